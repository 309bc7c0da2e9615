"""The option ``--language``."""

import json

import pytest


@pytest.fixture
def german(tmp_path):
    rows = [{"text": f"Der Hund und die Katze sind im Haus. {'Und er bellt. ' * i}", "code": "de"} for i in range(12)]
    path = tmp_path / "german.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_a_critic_is_fitted_and_scores_in_a_language(momus, german, tmp_path):
    folder = tmp_path / "critic"
    code, output = momus("fit", "stopword-share", "--fit", german, "--out", folder, "--language", "de")
    assert code == 0, output
    nll = [momus("score", folder, german, *language)[1] for language in (["--language", "field:code"], [])]
    assert all("12 of 12 documents scored" in output for output in nll)
    assert nll[0] != nll[1]  # without a language, English stopwords are counted


def test_a_comparison_takes_a_language(momus, german):
    code, output = momus("compare", "-r", german, "-g", f"x={german}", "-c", "length", "--language", "de!", "--no-out")
    assert code == 2
    assert "field:NAME" in output
