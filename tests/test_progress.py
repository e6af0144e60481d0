"""The one progress bar: late, on a terminal only, never in the way of another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from rich.progress import Progress

from bayesrule import progress as module
from bayesrule.progress import progress


@pytest.fixture
def watched(monkeypatch):
    """Somebody watches, and has no patience."""
    monkeypatch.setenv("BAYESRULE_PROGRESS", "1")
    monkeypatch.setattr(module, "PATIENCE", 0.0)


def test_nobody_watches(monkeypatch, capsys):
    monkeypatch.delenv("BAYESRULE_PROGRESS", raising=False)
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    with progress("counting", 2) as meter:
        meter.advance()
    assert capsys.readouterr() == ("", "")


def test_short_work_stays_quiet(monkeypatch, capsys):
    monkeypatch.setenv("BAYESRULE_PROGRESS", "1")
    with progress("counting", 2) as meter:
        meter.advance()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("total", [10, None])
def test_long_work_shows_on_stderr(watched, capsys, total):
    with progress("counting [rows]", total) as meter:
        for _ in range(3):
            meter.advance(note="[part]")
    out, err = capsys.readouterr()
    assert out == ""
    assert "counting [rows]" in err, "text from data is no markup"


def test_bars_within_bars(watched):
    with Progress() as outer, progress("inner", 2) as meter:
        meter.advance()
        meter.advance()
    assert outer.finished
    assert meter.done == 2


def test_threads_count_together(watched):
    with progress("counting", 1000) as meter, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: meter.advance(), range(1000)))
    assert meter.done == 1000
