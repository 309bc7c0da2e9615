"""JSON is read as values of the declared types, or refused with the field, what was found and what was expected."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest

from momus.errors import StoreError
from momus.parameters import Range
from momus.schema import SEAL, build, read_json, seal


@dataclass(frozen=True)
class Mark:
    name: str
    at: Annotated[float, Range(0)]
    kind: Literal["a", "b"] = "a"


@dataclass(frozen=True)
class Line:
    marks: Sequence[Mark]
    ends: tuple[int, int] | None = None
    notes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self):
        if self.ends is not None and self.ends[0] > self.ends[1]:
            raise ValueError("ends are swapped")


class Row(TypedDict):
    number: Annotated[int, Range(1)]
    word: Literal["x", "y"]
    extra: NotRequired[float]


MARK = {"name": "m", "at": 1}


def test_values_become_what_their_types_say():
    line = build(Line, {"marks": [MARK], "ends": [1, 2], "newer": 3}, "f")
    assert line == Line((Mark("m", 1.0),), (1, 2))
    assert build(Line | Mark, {"kind": "Mark", **MARK, "at": 2} | {"kind": "Line", "marks": []}, "f") == Line(())
    assert build(Row, {"number": 1, "word": "x", "newer": [1]}, "f") == {"number": 1, "word": "x", "newer": [1]}
    assert math.isnan(build(float, None, "f"))
    assert build(float | None, None, "f") is None
    assert build(tuple[str, str] | tuple[()], [], "f") == ()


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        (int, "1", "it is '1', expected a whole number"),
        (int, True, "it is true, expected a whole number"),
        (int, 2**70, "expected a whole number of at most 63 bits"),
        (float, True, "it is true, expected a finite number"),
        (float, 1e999, "it is inf, expected a finite number"),
        (str, None, "it is null, expected a text"),
        (tuple[int, ...], {}, "expected a list"),
        (tuple[int, int], [1], "expected a list of 2"),
        (dict[str, Any], [], "expected a table of names and values"),
        (Any, [[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]], "at most 20 levels"),
        (Line, {"marks": [MARK, {"name": "m"}]}, r"marks\[1\].at is missing"),
        (Line, {"marks": [{**MARK, "at": -1}]}, r"marks\[0\].at is -1.0, expected a number of at least 0"),
        (Line, {"marks": [{**MARK, "kind": "c"}]}, r"marks\[0\].kind is 'c', expected one of 'a', 'b'"),
        (Line, {"marks": [], "ends": [2, 1]}, "does not fit: ends are swapped"),
        (Line, {"marks": [], "notes": {"a": 1}}, "notes.a is 1, expected a text"),
        (Line | Mark, {"kind": "Row"}, "kind is 'Row', expected one of 'Line', 'Mark'"),
        (Row, {"number": 1}, "word is missing"),
        (Row, {"number": 0, "word": "x"}, "number is 0, expected a number of at least 1"),
        (Row, {"number": 1, "word": "z"}, "word is 'z', expected one of 'x', 'y'"),
        (Row, {"number": 1, "word": "x", "extra": "1"}, "extra is '1', expected a finite number"),
    ],
)
def test_what_does_not_fit_is_named(kind, data, message):
    with pytest.raises(StoreError, match=message) as error:
        build(kind, data, "a.json", "write it again")
    assert error.value.message.startswith("a.json: ")
    assert error.value.hint == "write it again"


@pytest.mark.parametrize("text", ["", "{", "NaN", '{"a": Infinity}', "[" * 100_000, "\xff", '{"number": 1e999}'])
def test_files_that_are_no_json_are_refused(text, tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(StoreError, match=r"a\.json: "):
        read_json(path, dict[str, Any], "write it again")


def test_seals_are_checked_and_taken_out(tmp_path):
    path, content = tmp_path / "a.json", {"number": 2, "word": "y"}
    path.write_text(json.dumps({**content, SEAL: seal(content)}))
    assert read_json(path, Row, "", sealed=True) == content
    for changed in ({**content, "number": 3, SEAL: seal(content)}, content, [content]):
        path.write_text(json.dumps(changed))
        with pytest.raises(StoreError, match="changed or damaged"):
            read_json(path, Row, "", sealed=True)
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "b.json", Row, "")
