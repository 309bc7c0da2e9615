"""Writing documents with a model into a file, so that nothing is lost, doubled or changed by an interruption."""

from momus.generating.prompts import read_prompts
from momus.generating.writing import Outcome, write_documents

__all__ = ["Outcome", "read_prompts", "write_documents"]
