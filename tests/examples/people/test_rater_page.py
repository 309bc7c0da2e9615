"""A script goes through whole studies in headless Chromium, as a rater does: keys, reload, two tabs, hostile texts."""

import json
import time

import pytest

from momus_people.answers import read_answers
from momus_people.result import analysed
from momus_people.study import rater_page

from ...report.browser import needs_chromium, run_in_page
from ...report.devtools import chromium
from ...report.test_page import AXE
from .studies import study

SHOWN = "document.querySelector('#screen h2').textContent"
DONE = "document.getElementById('count').textContent"
TRIAL = """
  (() => {
    const number = parseInt(document.querySelector('#screen h2').textContent.match(/[0-9]+/)[0]);
    const trial = JSON.parse(document.getElementById('study').textContent).trials[number - 1];
    const shown = [...document.querySelectorAll('.piece')].map(e => e.querySelector('.part').textContent);
    return trial.passages.every((p, k) => p[0] === shown[k]) ? trial.id : "another text";
  })()
"""


def press(tab, key):
    """Press a key that writes a character, or Enter."""
    text = "\r" if key == "Enter" else key
    code = 13 if key == "Enter" else ord(key)
    tab.send("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
    tab.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)


def answer(tab, chosen):
    """Answer the screen by keys, and note the answer."""
    trial = tab.value(TRIAL)
    category = (len(chosen) * 7) % 5
    press(tab, str(category + 1))
    press(tab, "Enter")
    chosen[trial] = category


def downloaded(tab, folder):
    """Save the file, and read it."""
    session, tab.session = tab.session, None
    tab.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    tab.session = session
    tab.value("document.querySelector('button.main').click()")
    for _ in range(200):
        found = list(folder.glob("answers-*.json"))
        if found:
            return found[0]
        time.sleep(0.05)
    raise AssertionError("nothing was downloaded")


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("width", [1300, 390])
def test_a_whole_study_of_twenty_items(tmp_path, width):
    made = study(60, hostile=True, items=20, raters=1, judgements=1, checks=2, repeats=2, words=70)
    page = tmp_path / "rater-1.html"
    page.write_text(rater_page(made, 0), encoding="utf-8")
    (tmp_path / "downloads").mkdir()
    chosen = {}
    with chromium(tmp_path) as tab:
        tab.open(page, width)
        tab.value("document.querySelector('form').requestSubmit()")
        assert "tick the box" in tab.value("document.querySelector('.say').textContent"), "no screen without consent"
        tab.value("document.getElementById('consent').focus()")
        tab.press(" ")
        tab.press("Enter")
        assert tab.value(SHOWN) == "Screen 1 of 24"
        press(tab, "Enter")
        assert tab.value("document.querySelector('.say').textContent") == "Please choose an answer."
        for _ in range(8):
            answer(tab, chosen)
        assert tab.value(DONE) == "8 of 24 answered"

        tab.send("Page.reload")
        time.sleep(0.5)
        while tab.value("document.readyState") != "complete":
            time.sleep(0.05)
        assert (tab.value(SHOWN), tab.value(DONE)) == ("Screen 9 of 24", "8 of 24 answered")
        assert tab.value("document.documentElement.scrollWidth <= innerWidth")

        first = tab.session
        tab.session = None
        tab.open(page, width)
        second = tab.session
        assert tab.value(SHOWN) == "Screen 9 of 24"
        answer(tab, chosen)  # screen 9, in the second tab
        tab.session = first
        for _ in range(100):  # the first tab hears of it, and goes on
            if tab.value(SHOWN) == "Screen 10 of 24":
                break
            time.sleep(0.05)
        assert (tab.value(SHOWN), tab.value(DONE)) == ("Screen 10 of 24", "9 of 24 answered")
        answer(tab, chosen)
        tab.session = second
        for _ in range(100):
            if tab.value(SHOWN) == "Screen 11 of 24":
                break
            time.sleep(0.05)
        while tab.value(SHOWN).startswith("Screen"):
            answer(tab, chosen)
        tab.session = first
        time.sleep(0.3)
        assert tab.value(DONE) == "24 of 24 answered"
        tab.send("Page.reload")
        time.sleep(0.5)
        assert tab.value(SHOWN) == "Thank you"

        tab.value("[...document.querySelectorAll('button')].find(b => b.textContent.startsWith('Look')).click()")
        press(tab, "Enter")  # the answers are looked at one by one
        assert tab.value(SHOWN) == "Screen 2 of 24"
        tab.send("Page.reload")
        time.sleep(0.5)
        assert tab.value("document.title") == "Momus: reading study"
        assert tab.value("document.images.length + document.querySelectorAll('iframe, object, embed').length") == 0
        path = downloaded(tab, tmp_path / "downloads")
    content = json.loads(path.read_text(encoding="utf-8"))
    assert {a["trial"]: a["answer"] for a in content["answers"]} == chosen
    assert content["consent"].startswith("20")
    read = read_answers(made, [path])
    assert (len(read.table), read.missing[0], read.invalid[0]) == (24, 0, 0)
    result = analysed(made, read, max_failed=1.0)
    expected = {t.code: t.expected for t in made.design.trials if t.role == "check"}
    assert result.raters[0].failed == sum(chosen[code] != value for code, value in expected.items())


ROUND = """
  document.getElementById("consent").checked = true;
  document.querySelector("form").requestSubmit();
  for (let k = 0; k < 100 && document.querySelector("#screen h2").textContent !== "Thank you"; k++) {
    document.querySelectorAll("select").forEach(s => { s.selectedIndex = 1; });
    document.querySelectorAll("fieldset").forEach((f, i) => { f.querySelectorAll("input")[i].checked = true; });
    document.querySelector("form").requestSubmit();
  }
  return document.querySelector("#screen h2").textContent + Object.keys(localStorage).filter(
    k => k.includes("/answer/")).length;
"""


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize(
    "settings",
    [
        {"kind": "pair", "ties": True},
        {"labels": ("titles",), "training": 2, "scale": ("incoherent", "coherent"), "words": 0},
    ],
    ids=["pair", "sections"],
)
def test_every_kind_of_study_comes_to_its_end(tmp_path, settings):
    made = study(80, **settings)
    page = rater_page(made, 0)
    trials = sum(t.rater == 0 for t in made.design.trials)
    assert run_in_page(page, ROUND, tmp_path) == f"Thank you{trials}"


@pytest.mark.slow
@needs_chromium
@pytest.mark.skipif(AXE is None, reason="axe-core is not installed (pip install axe-core-python)")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_axe_finds_nothing(tmp_path, theme, width):
    script = """
      const found = [];
      const look = async () => {
        const result = await axe.run(document, {resultTypes: ["violations"]});
        found.push(...result.violations.map(v => [v.impact, v.id, v.nodes.slice(0, 3).map(n => n.html.slice(0, 200))]));
      };
      await look();
      document.getElementById("consent").checked = true;
      document.querySelector("form").requestSubmit();
      await look();
      document.querySelector("input[type=radio]").checked = true;
      document.querySelector("form").requestSubmit();
      await look();
      return found;
    """
    for settings in ({"kind": "pair"}, {"labels": ("titles",), "training": 2, "words": 0}):
        page = rater_page(study(80, **settings), 0)
        page = page.replace('<html lang="en">', f'<html lang="en" data-theme="{theme}">')
        page = page.replace("</head>", f"<script>{AXE.read_text(encoding='utf-8')}</script></head>")
        assert run_in_page(page, script, tmp_path, width, budget=60000) == []
