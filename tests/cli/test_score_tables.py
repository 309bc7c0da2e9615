"""Tables of scores have each column once, whatever the documents hold, in every format."""

import json

import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from momus.cli.app import app
from momus.errors import UsageError
from momus.files import write_table

FIELDS = ("id", "group", "field group", "nll", "field field group", "topic")
READERS = {
    "parquet": pd.read_parquet,
    "csv": pd.read_csv,
    "jsonl": lambda path: pd.read_json(path, lines=True),
}


def run(*words):
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == 0, (result.output, result.exception)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A critic, and twelve documents of four groups with fields that are named like columns of Momus."""
    folder = tmp_path_factory.mktemp("tables")
    rows = [
        {"id": f"d{i}", "text": f"some words {i} " * (i % 4 + 1), "group_id": f"g{i % 4}"}
        | {name: f"{name} of {i}" for name in FIELDS if name != "id"}
        for i in range(12)
    ]
    (folder / "text.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run("fit", "length", "-f", folder / "text.jsonl", "-o", folder / "critic")
    return folder


@pytest.mark.parametrize("suffix", READERS)
def test_groups_are_one_column(suffix, folder):
    run("score", folder / "critic", folder / "text.jsonl", "-o", folder / f"groups.{suffix}")
    table = READERS[suffix](folder / f"groups.{suffix}")
    assert table["group"].tolist() == [f"g{i % 4}" for i in range(12)]
    assert len(table) == 12
    assert "group.1" not in table.columns, "pandas numbers columns of one name"


@pytest.mark.parametrize("suffix", READERS)
def test_kept_fields_do_not_take_the_names_of_columns(suffix, folder):
    out = folder / f"fields.{suffix}"
    run("score", folder / "critic", folder / "text.jsonl", "--keep", ",".join(FIELDS[1:]), "-o", out)
    table = READERS[suffix](out)
    assert len(set(table.columns)) == len(table.columns)
    assert table["group"].tolist() == [f"g{i % 4}" for i in range(12)]
    for name, column in (
        ("group", "field field field group"),
        ("field group", "field group"),
        ("nll", "field nll"),
        ("field field group", "field field group"),
        ("topic", "topic"),
    ):
        assert table[column].tolist() == [f"{name} of {i}" for i in range(12)], name


@pytest.mark.parametrize("suffix", READERS)
def test_no_table_is_written_with_two_columns_of_one_name(suffix, tmp_path):
    table = pa.table([[1], [2]], names=["a", "a"])
    with pytest.raises(UsageError, match="two columns are called 'a'"):
        write_table(table, tmp_path / f"a.{suffix}")
    assert list(tmp_path.iterdir()) == []
