"""The scripts that people read as examples run, print something, and draw something."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

plt = pytest.importorskip("matplotlib.pyplot")

ROOT = Path(__file__).parents[1]
SCRIPTS = [
    script
    for folder in ("examples", "reproduce/course", "docs/pictures")
    for script in sorted((ROOT / folder).glob("*.py"))
]


@pytest.mark.filterwarnings("ignore::bayesrule.notices.BayesRuleWarning")
@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_script_runs(
    script: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    try:
        runpy.run_path(str(script), run_name="__main__")
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    finally:
        drawn = len(plt.get_fignums())
        plt.close("all")
    assert drawn
    assert script.parent.name == "pictures" or capsys.readouterr().out.strip()


def test_stories_are_short() -> None:
    stories = list((ROOT / "examples").glob("*.py"))
    assert stories
    for story in stories:
        assert len(story.read_text(encoding="utf-8").splitlines()) < 80, story.name
