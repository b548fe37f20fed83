"""Sphinx configuration of the site (`make docs`), which loads nothing from the network."""

from __future__ import annotations

import sys
from pathlib import Path

import condal

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

project, author = "condal", "The condal developers"
project_copyright = author
version = release = condal.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "mathml",
    "plain_docstrings",
    "name_reference",
    "command_reference",
    "example_gallery",
]
exclude_patterns = ["_build", "extensions"]

nitpicky = True

# Formulas in ASCII stay as they are: A'w is not a quotation.
smartquotes = False
highlight_language = "text"

myst_enable_extensions = ["deflist", "dollarmath"]  # deflist: the options of commands
html_math_renderer = "mathml"
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings state the types
autosummary_generate = False
toc_object_entries_show_parents = "hide"

copybutton_prompt_text, copybutton_prompt_is_regexp = r">>> |\.\.\. |\$ ", True

pygments_style, pygments_dark_style = "default", "github-dark"
html_theme = "furo"
html_title = "condal"
html_static_path = ["static"]
html_css_files = ["condal.css"]
html_copy_source = html_show_sourcelink = False
html_show_sphinx = False
