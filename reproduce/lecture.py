"""The course: worked examples and figures, as the scripts of the folder ``course`` make them."""

from __future__ import annotations

import re
import runpy
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt

from reproduce.page import Page

TITLE = "A course on pattern recognition (Charbonnier, 2024-2025)"
SCRIPTS = sorted((Path(__file__).parent / "course").glob("*.py"))


def fill(page: Page, full: bool) -> None:
    """Run the scripts; keep what they say and draw. They have no shorter form."""
    page.text(
        "Worked examples give the course's own numbers. The data of its figures were not "
        "published, so figures are drawn from laws that each script states: shapes can be "
        "compared, digits cannot. The page of a script in the documentation shows its code."
    )
    for script in SCRIPTS:
        source = script.read_text(encoding="utf-8")
        found = re.match(r'"""\n(.+)\n=+\n\n(.*?)\n"""', source, re.DOTALL)
        assert found, f"{script.name} must open with a title and a paragraph"
        title, words = found.groups()
        page.heading(title)
        page.text(words)
        page.transcript(partial(runpy.run_path, str(script), run_name="__main__"))
        for number in plt.get_fignums():
            page.picture(plt.figure(number), f"{title}: figure {number}")
        plt.close("all")
