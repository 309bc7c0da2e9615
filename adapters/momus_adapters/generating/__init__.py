"""Generate documents with a model into a file; an interruption loses, duplicates or changes none of them."""

from momus_adapters.generating.writing import Outcome, read_prompts, write_documents

__all__ = ["Outcome", "read_prompts", "write_documents"]
