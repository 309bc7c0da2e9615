"""Pages and figures are not written through links, and settings of Python have the limits of the command line."""

import pytest
from typer.testing import CliRunner

import momus
from momus.calibration import calibrate
from momus.cli.app import app
from momus.errors import StoreError, UsageError

QUICK = {"critics": ["length"], "permutations": 99, "resamples": 99}


def refusal(*words):
    result = CliRunner().invoke(app, list(map(str, words)))
    assert isinstance(result.exception, StoreError), result.output
    return str(result.exception)


@pytest.fixture(scope="module")
def finished(texts, tmp_path_factory):
    """A finished run."""
    out = tmp_path_factory.mktemp("finished") / "run"
    corpora = [str(texts / f"{name}.jsonl") for name in ("real", "gen", "fit")]
    momus.compare(corpora[0], {"a": corpora[1]}, fit=corpora[2], out=out, **QUICK)
    return out


@pytest.mark.parametrize("kind", ["report", "calibrate", "gate", "figures"])
def test_no_page_is_written_through_a_link(kind, finished, texts, tmp_path):
    precious = tmp_path / "precious.txt"
    precious.write_text("mine", encoding="utf-8")
    (tmp_path / "out").mkdir()
    link = tmp_path / "out" / {"calibrate": "calibration.csv", "figures": "overview.csv"}.get(kind, "page.svg")
    link.symlink_to(precious)
    out = link.parent if kind in ("calibrate", "figures") else link
    calibrated = ("-r", texts / "real.jsonl", "-c", "length", "--defects", "none", "--splits", 20, "-o", out)
    words = {
        "report": ("show", finished, "--html", "-o", out),
        "calibrate": ("calibrate", *calibrated),
        "gate": ("gate", finished, "--max", 9, "--junit", out),
        "figures": ("figures", finished, "-o", out, "--format", "svg"),
    }
    if kind == "calibrate":
        (out / ".momus").write_text("calibration")  # as a calibration that was killed leaves it
    told = refusal(*words[kind])
    assert f"is a link to {precious}" in told
    assert "→ remove the link" in told
    assert precious.read_text(encoding="utf-8") == "mine"
    assert link.is_symlink()
    assert not list(out.glob("cells/*")), "a calibration is refused before its work"


BEYOND = [
    ("permutations", 10**9, "1,000,000"),
    ("permutations", 0, "at least 1"),
    ("permutations", "many", "a whole number"),
    ("permutations", True, "a whole number"),
    ("resamples", 10**6, "100,000"),
    ("resamples", -1, "at least 0"),
    ("seed", 2**80, "63 bits"),
    ("seed", -1, "at least 0"),
    ("confidence", 1.0, "0.9999"),
    ("confidence", float("nan"), "finite"),
    ("top", -1, "at least 0"),
    ("control_for", "length", "a list"),
]


@pytest.mark.parametrize(("name", "value", "allowed"), BEYOND)
def test_python_has_the_limits_of_the_command_line(name, value, allowed):
    with pytest.raises(UsageError) as caught:
        momus.compare(["a b"], {"m": ["a c"]}, **{**QUICK, name: value})
    assert str(caught.value).startswith(f"compare: {name} is ")
    assert allowed in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"), [("permutations", 10**7), ("wide", 10**7), ("splits", 10**6), ("power_splits", 0), ("seed", -1)]
)
def test_calibrations_have_them_too(name, value):
    with pytest.raises(UsageError, match=f"calibrate: {name} is "):
        calibrate([f"a b{i}" for i in range(40)], critics=["length"], **{name: value})
