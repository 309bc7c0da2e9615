"""Commands without ``--out`` write to the working directory: each test has one."""

import pytest


@pytest.fixture(autouse=True)
def working_directory(tmp_path_factory, monkeypatch):
    """A new folder that is the working directory."""
    folder = tmp_path_factory.mktemp("working")
    monkeypatch.chdir(folder)
    return folder
