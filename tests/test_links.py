"""Every page leads where it says: files, headings, pictures, and addresses that can be ones.

Whether an address outside answers is asked by ``make linkcheck``, which needs a network.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
#: Folders that the documentation is built into; what they are built from stands beside them.
BUILT = {
    "stories/index": ROOT / "examples" / "GALLERY_HEADER.rst",
    "course/index": ROOT / "reproduce" / "course" / "GALLERY_HEADER.rst",
}
PAGES = sorted(
    page
    for page in (
        *ROOT.glob("*.md"),
        *DOCS.glob("*.md"),
        *(DOCS / "reproduction").glob("*.md"),
        *(ROOT / "changelog.d").glob("*.md"),
        *(ROOT / "benchmarks").glob("*.md"),
    )
)
SOURCES = sorted(
    [
        *PAGES,
        ROOT / "CITATION.cff",
        ROOT / "Makefile",
        ROOT / "pyproject.toml",
        *DOCS.glob("*.py"),
        *DOCS.glob("reference/*.rst"),
        *(ROOT / "examples").glob("*"),
        *(ROOT / "reproduce").rglob("*.py"),
        *(ROOT / "src").rglob("*.py"),
    ]
)
LINK = re.compile(r"\]\(<?([^)\s>]+)>?\)")
DIRECTIVE = re.compile(r"^(?:```|:{3,})\{(?:image|figure|literalinclude)\} (\S+)$", re.MULTILINE)
PLOT = re.compile(r"^\.\. plot:: (\S+)$", re.MULTILINE)
DOC = re.compile(r"^:link: (\S+)\n:link-type: doc$", re.MULTILINE)
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ENTRY = re.compile(r"^[^:\n*].*?<(\S+)>$", re.MULTILINE)
ADDRESS = re.compile(r"https?:[^\s<>\"'`)\]}]*")
FILE = re.compile(r"`([\w./-]+\.(?:py|md|rst|toml|lock|csv\.gz|json|R|mplstyle))`")
FENCED = re.compile(r"^```([^\n]*)\n.*?^```$", re.DOTALL | re.MULTILINE)
CODE = ("", "bibtex", "console", "pycon", "python", "text")
#: Names of hosts that packages come from: those are a setting of whoever installs.
REGISTRIES = re.compile(
    r"\b(?:\w+\.)*(?:pypi|pythonhosted|npmjs|anaconda|conda-forge|docker|ghcr)\.(?:org|com|io)\b"
)


def prose(text: str) -> str:
    """A page without its blocks of code, where brackets mean something else."""
    return FENCED.sub(lambda block: "" if block[1] in CODE else block[0], text)


def headings(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub and the documentation write them."""
    found = re.findall(r"^#{1,3} (.+)$", prose(page.read_text(encoding="utf-8")), re.MULTILINE)
    plain = [re.sub(r"[`*]|\]\([^)]*\)|\[", "", title).strip().lower() for title in found]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in plain}


def targets(page: Path) -> list[str]:
    """Everything inside the project that a page points at."""
    text = prose(page.read_text(encoding="utf-8"))
    found = [target for target in LINK.findall(text) if "://" not in target]
    found += [target for pattern in (DIRECTIVE, PLOT) for target in pattern.findall(text)]
    names = DOC.findall(text) + [n for tree in TOCTREE.findall(text) for n in ENTRY.findall(tree)]
    return found + [f"{name}.md" for name in names]


def where(page: Path, path: str) -> Path:
    """The file that a target is, or is built from."""
    found = (page.parent / path).resolve()
    name = path.removesuffix(".md").removesuffix(".html")
    if page.is_relative_to(DOCS) and name in BUILT:
        return BUILT[name]
    return found if found.exists() else found.with_suffix(".rst")


@pytest.mark.parametrize("page", PAGES, ids=[str(p.relative_to(ROOT)) for p in PAGES])
def test_targets_exist(page: Path) -> None:
    for target in targets(page):
        path, _, anchor = target.partition("#")
        file = where(page, path) if path else page
        assert file.exists(), f"{target}: there is no such file"
        if anchor:
            assert anchor in headings(file), f"{target}: {sorted(headings(file))}"


def test_pages_have_targets() -> None:
    assert sum(len(targets(page)) for page in PAGES) > 80
    assert {"readme.md", "index.md", "tutorial.md"} <= {page.name.lower() for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=[str(p.relative_to(ROOT)) for p in PAGES])
def test_files_named_in_passing_exist(page: Path) -> None:
    """A path is one of the project; a bare name is that of a file somewhere in it."""
    for name in FILE.findall(prose(page.read_text(encoding="utf-8"))):
        parents = (ROOT, ROOT / "src" / "bayesrule", page.parent)
        near = any((parent / name).exists() for parent in parents)
        code = name.endswith(".py") and "/" not in name
        far = code and any((ROOT / part).rglob(name) for part in ("src", "tests", "docs"))
        made = not name.endswith((".py", ".toml", ".lock", ".R")) and "/" not in name
        assert near or far or made, f"{page.name} names {name}"


def test_every_picture_is_used() -> None:
    used = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in targets(page)
        if target.endswith((".png", ".py"))
    }
    kept = {*DOCS.glob("images/*.png"), *DOCS.glob("reproduction/images/*.png")}
    drawn = {*DOCS.glob("pictures/*.py")} - {DOCS / "pictures" / "two_rules.py"}  # regions.png
    assert kept
    assert drawn
    assert {path.resolve() for path in kept | drawn} - used == set()


def test_every_page_can_be_reached() -> None:
    index = targets(DOCS / "index.md")
    assert {f"{page.stem}.md" for page in DOCS.glob("*.md")} - {"index.md"} <= set(index)


def test_addresses_are_well_formed_and_no_registry_is_named() -> None:
    seen = 0
    for source in SOURCES:
        if source.is_dir():
            continue
        text = source.read_text(encoding="utf-8")
        assert not REGISTRIES.search(text), f"{source} names {REGISTRIES.search(text)}"
        for address in ADDRESS.findall(text):
            parts = urlsplit(address.rstrip(".,;:"))
            host = parts.hostname or ""
            assert re.fullmatch(r"(?:[\w-]+\.)+[a-z]{2,}", host) or host == "127.0.0.1", (
                f"{source}: {address}"
            )
            seen += 1
    assert seen
