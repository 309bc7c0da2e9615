"""The command as a user calls it; each test has a working directory, where commands without ``--out`` write."""

import pytest

from momus.cli import main


@pytest.fixture(autouse=True)
def working_directory(tmp_path_factory, monkeypatch):
    """A new folder that is the working directory."""
    folder = tmp_path_factory.mktemp("working")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def momus(monkeypatch, capsys):
    """Run ``momus`` with these arguments in a terminal of 200 columns; returns (exit code, all output)."""

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["momus", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return call
