"""A real, small encoder, made on the spot: nothing is downloaded."""

import pytest


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    """A folder with a BERT of two layers from random weights, and a word-piece tokenizer of a small vocabulary."""
    from momus.testing import tiny_encoder

    words = ["ape", "bear", "cat", "dog", "red", "blue", "pink", "green", "one", "two", "six", "ten"]
    folder = tmp_path_factory.mktemp("encoder")
    for saved in tiny_encoder(words):
        saved.save_pretrained(folder)
    return str(folder)
