"""Documents written by language models: decoding methods, models that write, and files that can be resumed.

>>> from momus.sequences import Sequences
>>> from momus.sequences.ngram import NGramModel
>>> model = NGramModel(2).fit(Sequences.of([[0, 1], [0, 1], [0]]), symbols=2)
>>> drawn = sample(model, None, Decoding(longest=9), document_seeds(0, 3))
>>> len(drawn.sequences)
3
"""

from momus_generating.decoding import Decoding, Drawn, document_seeds, sample
from momus_generating.models import DocumentRequest, Generated, Generator, ModelSampler, Prompt, ServerGenerator
from momus_generating.writing import write_documents

__all__ = [
    "Decoding",
    "DocumentRequest",
    "Drawn",
    "Generated",
    "Generator",
    "ModelSampler",
    "Prompt",
    "ServerGenerator",
    "document_seeds",
    "sample",
    "write_documents",
]
