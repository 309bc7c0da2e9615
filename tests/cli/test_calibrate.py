"""``momus calibrate`` from the command line."""

import json

import pytest

from momus.cli import main


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    texts = tmp_path / "real.jsonl"
    lines = [json.dumps({"id": f"d{i}", "text": f"words {i % 5} " * (i % 9 + 2)}) for i in range(80)]
    texts.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def run(*extra):
        arguments = ["calibrate", "-r", str(texts), "-c", "length", "--splits", "40", "--power-splits", "20", *extra]
        monkeypatch.setattr("sys.argv", ["momus", *arguments])
        monkeypatch.setenv("COLUMNS", "200")
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run


def test_a_calibration_prints_its_table_and_writes_it(call, tmp_path):
    out = tmp_path / "c"
    code, text = call("-o", str(out), "--defects", "length-truncation", "--strengths", "0.1,0.9", "--seed", "5")
    assert code == 0, text
    for part in ("False alarms", "length-truncation", "seed 5", "40 null splits", "calibration.csv", "split by seed 5"):
        assert part in text
    shown = {p.name for p in out.iterdir() if p.name[0] != "."}
    assert shown == {"calibration.json", "calibration.csv", "cells"}
    assert not (out / ".lock").exists()


@pytest.mark.parametrize(
    ("extra", "code", "message"),
    [
        (("--strengths", "much"), 2, "--strengths"),
        (("--sizes", "ten"), 2, "'ten' is not a size"),
        (("--sizes", "500"), 2, "needs 1,000 documents"),
        (("--defects", "typo"), 2, "no defect 'typo'"),
    ],
)
def test_wrong_use_says_the_way_out(call, tmp_path, extra, code, message):
    found, text = call("-o", str(tmp_path / "c"), *extra)
    assert found == code
    assert message in text
    assert "→" in text
    assert "Traceback" not in text
