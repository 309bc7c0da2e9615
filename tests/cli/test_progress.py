"""Progress: one line or one bar over all critics, times left from measured rates, nothing where it is not wanted."""

import io
import re
import sys
import time

import pytest
from rich.console import Console

import momus
from momus import Corpus
from momus.progress import Bars, Lines, Overall, Silent, Timed, default_reporter

TEXTS = [f"the sun rose over hill number {i} " * (1 + i % 5) for i in range(60)]
QUICK = {"critics": ["length", "stopword-share"], "permutations": 99, "resamples": 99}


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def of(total=3):
    clock = Clock()
    return Overall("critic", total, clock=clock), clock


def test_later_critics_take_as_long_as_earlier_ones_on_average():
    overall, clock = of(total=4)
    for seconds in (4, 8):
        with overall.item(str(seconds)):
            assert overall.remaining() == (None if seconds == 4 else pytest.approx(4 + 8))
            overall.begin("fitting")
            clock.now += seconds
    assert (overall.last, overall.seconds) == ("8", 8.0)
    assert overall.remaining() == pytest.approx(2 * 6)
    with overall.item("c"):
        overall.begin("fitting")
        clock.now += 1
        assert overall.remaining() == pytest.approx(5 + 6)
        clock.now += 30
        assert overall.remaining() == pytest.approx(6)


def test_a_critic_of_an_earlier_run_does_not_count_for_the_rate():
    overall, clock = of(total=3)
    with overall.item("kept"):
        clock.now += 0.1
    with overall.item("new"):
        overall.begin("scoring")
        clock.now += 5
    assert overall.remaining() == pytest.approx(5)


def test_the_share_never_falls():
    overall, clock = of(total=2)
    shares = []
    for seconds in (20, 30):
        with overall.item("a"):
            for _ in range(10):
                overall.begin("testing")
                clock.now += seconds / 10
                shares.append(overall.share())
    assert shares == sorted(shares)
    assert shares[0] < shares[10] <= shares[-1] < overall.share() == 1.0
    assert overall.remaining() is None


def test_lines_are_one_per_critic():
    out = io.StringIO()
    momus.compare(Corpus.from_texts(TEXTS), {"g": Corpus.from_texts(TEXTS[::2])}, reporter=Lines(out), **QUICK)
    lines = out.getvalue().splitlines()
    assert [re.sub(r"\d+\.\d s", "_ s", line) for line in lines] == [
        "critic 1 of 2: length, _ s",
        "critic 2 of 2: stopword-share, _ s",
    ]


def test_bars_show_the_critic_and_the_stage_in_80_columns():
    bars = Bars()
    out = io.StringIO()
    bars._progress.live.console = Console(file=out, force_terminal=True, width=80, color_system=None)
    timed = Timed(bars)
    with timed.overall("critic", 17):
        with timed.item("length"), timed.stage("fitting"):
            time.sleep(0.01)
        with timed.item("topics"), timed.stage("scoring", "opt", 1000) as advance:
            advance(250)
            text = str_of(bars)
        assert "critic 2 of 17: topics, scoring opt" in text
        assert "left" in text
        assert "250/1,000" in text
    assert "critic 2" not in str_of(bars)
    assert not bars._progress.live.is_started


def str_of(bars):
    console = Console(width=80, color_system=None, file=io.StringIO())
    with console.capture() as capture:
        console.print(bars._progress.get_renderable())
    text = capture.get()
    assert all(len(line) <= 80 for line in text.splitlines())
    return text


def test_reporters_without_parts_still_work():
    class Own(Silent):
        labels = ()

        def stage(self, label, total=None):
            Own.labels += (label,)
            return super().stage(label, total)

    momus.compare(Corpus.from_texts(TEXTS), {"g": Corpus.from_texts(TEXTS[::2])}, reporter=Own(), **QUICK)
    assert {"scoring g", "fitting", "reading"} <= set(Own.labels)


def test_the_default_is_silent_off_a_terminal_unless_lines_are_asked_for(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    assert type(default_reporter()) is Silent
    assert type(default_reporter(lines=True)) is Lines
    assert type(default_reporter(show=True)) is Bars


def test_a_stage_costs_next_to_nothing():
    timed = Timed(Silent())
    with timed.overall("critic", 1), timed.item("a"):
        start = time.perf_counter()
        for _ in range(1000):
            with timed.stage("scoring", "g", 1000) as advance:
                advance(1)
        assert time.perf_counter() - start < 0.5  # 0.5 ms per stage; measured: some 10 µs
