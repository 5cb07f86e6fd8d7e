"""How Sphinx builds the site: the pages of this folder, the API from docstrings, the commands."""

from importlib.metadata import version as version_of

project = "isinglass"
author = "The isinglass developers"
copyright = author
version = release = version_of("isinglass")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
]
nitpicky = False

html_theme = "furo"
html_title = "isinglass"
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#7ab8f5", "color-brand-content": "#7ab8f5"},
}

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # pages also name files of the repository

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say what they take, in words
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
