"""The pytest fixture gates a run by the rules of the project."""

pytest_plugins = ["pytester"]


TESTS = """
def test_passes(momus_gate):
    assert momus_gate({same!r}, baseline={near!r}).passed

def test_fails(momus_gate):
    momus_gate({long!r}, baseline={near!r})

def test_adds(momus_gate):
    momus_gate({same!r}, baseline={near!r}, max={{"length": 0.0001}}, strict=True)
"""


def test_the_fixture_gates_by_the_rules_of_the_project(runs, pytester):
    pytester.makefile(".toml", **{"momus-gate": "max-worse = 0.5"})
    pytester.makeconftest('pytest_plugins = ["momus_adapters.pytest_gate"]')
    names = {name: str(runs.folder / name) for name in ("near", "same", "long")}
    pytester.makepyfile(TESTS.format(**names))
    done = pytester.runpytest_inprocess("-p", "no:xdist", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=1, failed=2)
    shown = done.stdout.str()
    assert "length of documents (length) of 'model'" in shown
    assert "Traceback" not in shown
