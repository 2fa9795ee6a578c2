"""Configure Sphinx for the site; `docs/site/build.py` (`make site`) gathers the pages and calls it."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from ground.version import read_waver_version  # noqa: E402

project, author = "Waver", "The Waver team"
copyright = "The Waver team, Apache-2.0"  # the name that Sphinx reads
release = version = (read_waver_version() or "").split("+")[0]
extensions = ["myst_nb", "sphinx.ext.autodoc", "numpydoc", "sphinx_copybutton"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb", ".rst": "restructuredtext"}
nb_execution_mode = "off"  # the report has run the notebooks
myst_heading_anchors = 4
default_role = "literal"  # docstrings write `name` as Markdown does
autodoc_typehints = "none"  # the sections of the docstrings say what comes and goes
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
# Code is copied without prompts; what a session printed is not copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "Waver"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
# Pages without others beside them get the room of the list of those.
ALONE = ("index", "gallery", "README", "CHANGELOG", "CONTRIBUTING", "inference/demo/models/README")
html_sidebars = {page: [] for page in ALONE}
html_css_files = ["waver.css"]
