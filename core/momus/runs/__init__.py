"""What a run keeps: its rows, its folder, and its results read back."""
