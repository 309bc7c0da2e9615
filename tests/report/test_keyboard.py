"""The whole report can be used with a keyboard alone: Tab, Enter, Space and arrows, in a real browser."""

import pytest

from momus.report.page import render

from .browser import needs_chromium
from .devtools import chromium
from .synthetic import comparison

pytestmark = [pytest.mark.slow, needs_chromium]

COUNT = """
  (() => {
    const all = 'a[href], button, summary, [tabindex="0"], input, select';
    window.stops = [...document.querySelectorAll(all)].filter(e => e.checkVisibility({visibilityProperty: true}));
    return stops.length;
  })()
"""
"""Number the controls that a reader sees, in the order of the document."""
HERE = """
  (() => {
    const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e);
    // where its text begins, in the middle of what is inside the window: nothing may lie over it there
    const x = Math.min(Math.max(box.left, 0) + 12, box.right - 1);
    const y = (Math.max(box.top, 0) + Math.min(box.bottom, innerHeight)) / 2;
    const top = document.elementFromPoint(x, y);
    return {
      at: e === document.body ? null : window.stops.indexOf(e),
      name: e.getAttribute("aria-label") || e.textContent.trim().slice(0, 60),
      tag: e.tagName.toLowerCase(),
      ringed: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
      seen: box.width > 0 && box.height > 0 && top !== null && (e.contains(top) || top.contains(e)),
    };
  })()
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = tmp_path_factory.mktemp("keyboard") / "report.html"
    found.write_text(render(comparison(critics=3)), encoding="utf-8")
    return found


@pytest.fixture
def tab(path, tmp_path):
    with chromium(tmp_path) as opened:
        yield opened


def walk(tab):
    """Press Tab through the whole page, and return what had the focus."""
    count, seen = tab.value(COUNT), []
    for _ in range(count + 5):
        tab.press("Tab")
        here = tab.value(HERE)
        if here["at"] is None or (seen and here["at"] == seen[0]["at"]):
            break
        seen.append(here)
    assert [s["at"] for s in seen] == list(range(count)), "each control once, in the order of the page, and no trap"
    return seen


def focus(tab, selector):
    """Give the focus to the first element of a selector, as if Tab had reached it."""
    tab.value(f"document.querySelector({selector!r}).focus({{focusVisible: true}})")


@pytest.mark.parametrize("width", [1400, 390])
def test_every_control_is_reached_and_its_focus_is_seen(tab, path, width):
    tab.open(path, width)
    seen = walk(tab)
    assert seen[0]["name"] == "Skip to the axes"
    assert [s["name"] for s in seen if not s["ringed"]] == []
    assert [s["name"] for s in seen if not s["seen"]] == []


def test_every_fold_opens_by_keyboard_and_all_that_it_holds_is_reached(tab, path):
    tab.open(path)
    for i in range(400):
        closed = "document.querySelector('details:not([open]) > summary')"
        if not tab.value(f"{closed} !== null && ({closed}.focus(), true)"):
            break
        before = tab.value("document.querySelectorAll('details[open]').length")
        tab.press(("Enter", " ")[i % 2])
        assert tab.value("document.querySelectorAll('details[open]').length") == before + 1
    assert i > 10, "the page has folds"
    tab.open(path)
    tab.value("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    seen = walk(tab)
    assert {"a", "button", "summary", "div", "pre"} <= {s["tag"] for s in seen}
    assert [s["name"] for s in seen if not (s["ringed"] and s["seen"])] == []
    for _ in range(3):  # and back
        tab.press("Tab", shift=True)
    assert tab.value(HERE)["at"] == len(seen) - 3


def test_the_skip_link_leads_past_the_first_screen(tab, path):
    tab.open(path)
    tab.press("Tab")
    tab.press("Enter")
    assert tab.value("location.hash") == "#axes"
    tab.press("Tab")
    assert tab.value("document.activeElement.closest('#axes') !== null")


def test_buttons_answer_to_keys(tab, path):
    tab.open(path)
    focus(tab, "#theme")
    tab.press(" ")
    assert tab.value("document.documentElement.dataset.theme") in ("dark", "light")
    tab.value("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    focus(tab, "table[data-sortable] th button")
    tab.press("Enter")
    tab.press(" ")
    assert tab.value("document.activeElement.closest('th').getAttribute('aria-sort')") == "descending"


def test_what_is_cut_off_scrolls_by_arrows(tab, path):
    tab.open(path, 390)
    tab.value("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    wide = "[...document.querySelectorAll('.scroll')].find(e => e.scrollWidth > e.clientWidth + 40)"
    tab.value(f"window.wide = {wide}; wide.focus()")
    for _ in range(3):
        tab.press("ArrowRight")
    moved = "new Promise(done => setTimeout(() => done(wide.scrollLeft), 400))"
    assert tab.value(moved) > 0
