"""Every session in the documentation runs, and answers what the page says it does."""

from __future__ import annotations

import doctest
import inspect
import re
import shlex
from pathlib import Path

import pytest

import bayesrule.datasets
import bayesrule.displays
from bayesrule import recipes
from bayesrule.cli.main import run

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
#: For answers that hold times, or figures of other people's programs.
IGNORE = doctest.register_optionflag("IGNORE")


class _Checker(doctest.OutputChecker):
    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return bool(optionflags & IGNORE) or super().check_output(want, got, optionflags)


@pytest.mark.filterwarnings("ignore::bayesrule.notices.BayesRuleWarning")
@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_sessions_say_what_they_answer(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert text.count(">>> ") == sum(block.count(">>> ") for block in blocks)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(page.parent))  # for what pages include
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    runner = doctest.DocTestRunner(_Checker(), verbose=False, optionflags=flags)
    session = doctest.DocTestParser().get_doctest(
        "\n".join(blocks), {"__name__": "__main__"}, page.name, str(page), 0
    )
    told: list[str] = []
    runner.run(session, out=told.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(told)
    for table in re.findall(r"^```text\n(true,.*?)^```$", text, re.DOTALL | re.MULTILINE):
        Path("gain.csv").write_text(table, encoding="utf-8")
    for line in re.findall(r"^\$ bayesrule (.*)$", text, re.MULTILINE):
        assert run(shlex.split(line)) == 0, f"{line}\n{capsys.readouterr().err}"


def test_the_reference_holds_every_public_name() -> None:
    held = {line.strip() for line in (DOCS / "reference" / "index.rst").read_text().splitlines()}
    for module in (bayesrule, bayesrule.displays, bayesrule.datasets):
        public = {name for name in module.__all__ if not inspect.ismodule(getattr(module, name))}
        assert public <= held
    made = {
        name
        for name, found in vars(recipes).items()
        if inspect.isfunction(found) and found.__module__ == recipes.__name__
    }
    assert {name for name in made if not name.startswith("_")} <= held
