"""How Sphinx makes the site out of these pages and the docstrings: ``make docs``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import shortlist

project = "Shortlist"
author = "The Shortlist developers"
project_copyright = author
version = release = shortlist.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinxcontrib.bibtex",
    "public_names",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_ext", "_templates"]
nitpicky = True

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
bibtex_bibfiles = ["references.bib"]
bibtex_reference_style = "author_year"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    "exclude-members": "set_fit_request,set_predict_request,set_predict_proba_request,set_score_request",
}
templates_path = ["_templates"]
autosummary_generate = True
autosummary_ignore_module_all = False
autosummary_imported_members = True

html_static_path = ["_static"]
html_css_files = ["narrow.css"]
html_theme = "pydata_sphinx_theme"
html_title = "Shortlist"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}

nitpick_ignore = [("py:class", "collections.abc.Callable")]
