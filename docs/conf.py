"""How the documentation is built: ``make docs``."""

from __future__ import annotations

import os
import re
import warnings
from importlib.metadata import version as version_of
from pathlib import Path

import matplotlib
import matplotlib.style

matplotlib.use("Agg")
HERE = Path(__file__).parent
STYLE = HERE / "bayesrule.mplstyle"
matplotlib.style.use(STYLE)

project = "bayesrule"
author = "the bayesrule developers"
release = version = version_of("bayesrule")

extensions = [
    "myst_parser",
    "matplotlib.sphinxext.plot_directive",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "README.md", "images/README.md"]
nitpicky = False

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings state them in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Names of other projects become links where their lists can be fetched, and stay plain text where
# the site is built without a network.
intersphinx_mapping = {}
if not os.environ.get("BAYESRULE_DOCS_OFFLINE"):
    intersphinx_mapping = {
        "numpy": ("https://numpy.org/doc/stable", None),
        "python": ("https://docs.python.org/3", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

# `make linkcheck` asks every external address. Pages that refuse programs are not thereby broken.
linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_workers = 4
linkcheck_allow_unauthorized = True

# Blocks of Python sessions copy without their prompts and answers.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

plot_basedir = str(HERE)
plot_include_source = False
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("png", 140)]
plot_working_directory = str(HERE)
plot_apply_rcparams = True
plot_rcparams = dict(matplotlib.rc_params_from_file(STYLE, use_default_template=False))

warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")


def runnable(script: Path) -> bool:
    """Whether the data sets that a script names can be had here."""
    from bayesrule import datasets

    try:
        for name in re.findall(r'datasets\.load\("(\w+)"', script.read_text(encoding="utf-8")):
            datasets.load(name)
    except FileNotFoundError:
        return False
    return True


#: Scripts that are run; one whose data are not here is shown without its pictures.
GALLERY = [HERE.parent / "examples", HERE.parent / "reproduce" / "course"]
RUN = [script.name for folder in GALLERY for script in folder.glob("*.py") if runnable(script)]

sphinx_gallery_conf = {
    "examples_dirs": [str(folder) for folder in GALLERY],
    "gallery_dirs": ["stories", "course"],
    "filename_pattern": "/(" + "|".join(map(re.escape, RUN)) + ")$",
    "ignore_pattern": r"__init__\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "capture_repr": (),
    "show_signature": False,
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "matplotlib_animations": False,
    "reset_modules": (),  # which would take the style away again
    "reference_url": {"bayesrule": None},
    "backreferences_dir": "reference/backreferences",
    "doc_module": ("bayesrule",),
    "inspect_global_variables": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "bayesrule"
html_static_path = ["_static"]
html_css_files = ["bayesrule.css"]
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 8,
}
html_sidebars = {"**": []}  # what is where stands at the top of each page
