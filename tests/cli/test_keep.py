"""``--keep``: metadata fields go along from the file to the scores."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from momus.cli.app import app


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        {
            "id": f"d{i}",
            "text": "word " * int(rng.integers(5, 60)),
            "topic": "even" if i % 2 == 0 else i,
            "group": i // 4,
        }
        for i in range(40)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = CliRunner().invoke(
        app, ["fit", "length", "-f", f"{tmp_path}/a.jsonl", "-o", f"{tmp_path}/c", "--keep", "topic"]
    )
    assert done.exit_code == 0, done.output
    return tmp_path


def test_fields_and_groups_are_written_beside_the_scores(folder):
    arguments = ["score", f"{folder}/c", f"{folder}/a.jsonl", "-o", f"{folder}/s.csv", "--keep", "topic, id"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    with (folder / "s.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [r["topic"] for r in rows] == ["even" if i % 2 == 0 else str(i) for i in range(40)]
    assert [r["group"] for r in rows] == [str(i // 4) for i in range(40)]
    assert [r["field id"] for r in rows] == [r["id"] for r in rows]


def test_a_field_that_does_not_exist_is_refused(folder):
    done = CliRunner().invoke(app, ["score", f"{folder}/c", f"{folder}/a.jsonl", "--keep", "tpoic"])
    assert done.exit_code != 0
    assert "'tpoic'" in str(done.exception)
