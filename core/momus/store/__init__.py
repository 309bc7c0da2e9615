"""What is kept: fitted critics and run folders, as JSON, safetensors and Parquet; never pickle."""
