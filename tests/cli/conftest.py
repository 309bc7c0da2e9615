"""Each test has a working directory of its own, where commands without ``--out`` write."""

import pytest


@pytest.fixture(autouse=True)
def _in_working_directory(working_directory):
    pass
