"""Generate documents with a model into a file; an interruption loses, duplicates or changes none of them."""

from momus_adapters.generating.prompts import read_prompts
from momus_adapters.generating.writing import Outcome, write_documents

__all__ = ["Outcome", "read_prompts", "write_documents"]
