"""Texts as users find them, from the command line: exit codes, and words that a reader can act on."""

import json

GOOD = [{"id": f"d{i}", "text": f"plain words number {i} and some {'more ' * (i % 7)}"} for i in range(24)]


def write(path, records):
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


def compare(momus, real, generated, *extra):
    quick = ("-c", "length", "--permutations", "99", "--resamples", "99")
    code, output = momus("compare", "-r", real, "-g", f"gen={generated}", *quick, *extra)
    return code, " ".join(output.split())


def test_one_book(momus, tmp_path):
    book = tmp_path / "book.txt"
    book.write_text("\n\n".join(r["text"] for r in GOOD))
    other = write(tmp_path / "other.jsonl", GOOD)
    code, output = compare(momus, book, other)
    assert code == 2
    assert "'real' has 1 document:" in output
    assert "--format paragraphs" in output
    assert "Traceback" not in output
    code, output = compare(momus, book, book, "--format", "paragraphs")
    assert code == 0
    assert "both sides are the same text" in output


def test_tables_are_read_and_broken_ones_refused(momus, tmp_path):
    table = tmp_path / "real.csv"
    table.write_text("text,label\n" + "".join(f'"{r["text"]}, said ""he""\nand left",x\n' for r in GOOD))
    other = write(tmp_path / "other.jsonl", GOOD)
    code, output = compare(momus, table, other)
    assert code == 0, output
    assert "12 documents to fit on and 12 to compare with" in output
    assert compare(momus, table, other, "--format", "lines")[0] == 2
    (tmp_path / "bad.csv").write_text("text,label\nTo be, or not,x\n")
    code, output = compare(momus, tmp_path / "bad.csv", other)
    assert code == 3
    assert "bad.csv, row 1: 3 cells (line 2), expected 2" in output


def test_the_hint_for_a_field_ends_the_search(momus, tmp_path):
    real = write(tmp_path / "real.jsonl", [{"text": None, "output": r["text"]} for r in GOOD])
    other = write(tmp_path / "other.jsonl", [{"output": r["text"] + " x"} for r in GOOD])
    code, output = compare(momus, real, other)
    assert code == 3
    assert "--field output" in output
    code, output = compare(momus, real, other, "--field", "text")
    assert code == 3
    assert "--field output" in output
    assert compare(momus, real, other, "--field", "output")[0] == 0


def test_answers_and_splits_are_told(momus, tmp_path):
    real = write(tmp_path / "real.jsonl", GOOD)
    answers = write(tmp_path / "answers.jsonl", [{"text": [r["text"] + " x", r["text"] + " y"]} for r in GOOD])
    code, output = compare(momus, real, answers)
    assert code == 0, output
    assert "'text' holds 48 texts in the lists of 24 records" in output
    (tmp_path / "data").mkdir()
    for name in ("train", "test"):
        write(tmp_path / "data" / f"{name}.jsonl", GOOD)
    code, output = compare(momus, tmp_path / "data", real)
    assert code == 2
    assert "train (train.jsonl)" in output
    assert "test (test.jsonl)" in output
    assert compare(momus, tmp_path / "data" / "tr*.jsonl", answers)[0] == 0


def test_texts_without_any_word_are_worded_errors(momus, tmp_path):
    blank = write(tmp_path / "blank.jsonl", [{"text": " "}] * 9)
    good = write(tmp_path / "good.jsonl", GOOD)
    code, output = compare(momus, blank, good)
    assert code == 2
    assert "'real' has 9 documents, 0 of them with text" in output
    code, output = compare(momus, good, good, "--fit", blank)
    assert code == 4
    assert "length" in output
    assert "Traceback" not in output
    for content in ("", "\n\n"):
        (tmp_path / "none.jsonl").write_text(content)
        code, output = compare(momus, good, tmp_path / "none.jsonl")
        assert code == 3
        assert "none.jsonl" in output
