"""Long reproductions can be broken off and gone on with."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from reproduce import __main__ as command
from reproduce.page import Page


def test_results_are_stored_and_found_again(tmp_path):
    calls = []

    def work():
        calls.append(1)
        return [1.5, "x"]

    for _ in range(2):
        page = Page(tmp_path, "p", "P", True, tmp_path / "store")
        assert page.stored("part", work) == [1.5, "x"]
    assert len(calls) == 1
    assert "in several runs on" in page.write().read_text()
    assert Page(tmp_path, "p", "P", True).stored("part", work) == [1.5, "x"]
    assert len(calls) == 2


def test_what_fails_leaves_nothing_behind(tmp_path):
    page = Page(tmp_path, "p", "P", True, tmp_path / "store")
    with pytest.raises(ZeroDivisionError):
        page.stored("part", lambda: 1 / 0)
    assert not (tmp_path / "store").exists()


def test_a_run_begins_anew_unless_it_is_resumed(tmp_path, monkeypatch):
    calls = []

    def fill(page, full):
        page.stored("part", lambda: calls.append(full))
        page.text("Done.")

    fake = SimpleNamespace(TITLE="A page", fill=fill)
    monkeypatch.setattr(command, "pages", lambda: {"fake": fake})
    monkeypatch.setattr(command, "ROOT", tmp_path)
    for asked, expected in (([], 1), (["--resume"], 1), ([], 2), (["--full", "--resume"], 2)):
        monkeypatch.setattr(sys, "argv", ["reproduce", "fake", *asked])
        assert command.main() == 0
        assert len(calls) == expected
    text = (tmp_path / "docs" / "reproduction" / "fake.md").read_text()
    assert "reproduce fake --full` in several runs" in text
