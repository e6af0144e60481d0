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
#: Sessions, commands and tables are taken in the order in which a reader meets them.
BLOCK = re.compile(r"^```(pycon|console|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TAB = re.compile(r"^(:{3,})\{tab-item\}[^\n]*\n:sync: (\w+)\n.*?^\1$", re.DOTALL | re.MULTILINE)


def readings(page: Path) -> list[str]:
    """A page as readers of its tabs see it: once without tabs, else once for each of them."""
    text = page.read_text(encoding="utf-8")
    chosen = sorted({tab[2] for tab in TAB.finditer(text)})
    # Lines stay where they are, so that a failure names the right one.
    return [
        TAB.sub(lambda tab: tab[0] if tab[2] == name else "\n" * tab[0].count("\n"), text)  # noqa: B023
        for name in chosen
    ] or [text]


READINGS = [
    pytest.param(page, text, id=f"{page.stem}-{i}")
    for page in PAGES
    for i, text in enumerate(readings(page))
]
#: For answers that hold times, or figures of other people's programs.
IGNORE = doctest.register_optionflag("IGNORE")


class _Checker(doctest.OutputChecker):
    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return bool(optionflags & IGNORE) or super().check_output(want, got, optionflags)


@pytest.mark.filterwarnings("ignore::bayesrule.notices.BayesRuleWarning")
@pytest.mark.parametrize(("page", "text"), READINGS)
def test_sessions_say_what_they_answer(
    page: Path,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(page.parent))  # for what pages include
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    runner = doctest.DocTestRunner(_Checker(), verbose=False, optionflags=flags)
    names: dict[str, object] = {"__name__": "__main__"}
    told: list[str] = []
    ran = 0
    for block in BLOCK.finditer(text):
        language, body = block.groups()
        if language == "pycon":
            line = text.count("\n", 0, block.start(2))
            session = doctest.DocTestParser().get_doctest(body, names, page.name, str(page), line)
            runner.run(session, out=told.append, clear_globs=False)
            names.update(session.globs)
            ran += body.count(">>> ")
        elif language == "text" and body.startswith("true,"):
            Path("gain.csv").write_text(body, encoding="utf-8")
        elif language == "console":
            for command in re.findall(r"^\$ bayesrule (.*)$", body, re.MULTILINE):
                assert run(shlex.split(command)) == 0, f"{command}\n{capsys.readouterr().err}"
    assert runner.summarize(verbose=False).failed == 0, "".join(told)
    assert text.count(">>> ") == ran
    assert text.count("$ bayesrule ") == len(re.findall(r"^\$ bayesrule ", text, re.MULTILINE))


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
