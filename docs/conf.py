"""The site of the documentation: ``sphinx-build -W -c docs . build/site`` in the root.

The root of the repository is the folder of sources, so that the links between the pages are the
same on the site and where the Markdown files are read as they are.
"""

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS))
# Last, since the folder of sources may hold no compiled modules and an installed spmcompat does.
sys.path.append(str(ROOT))

import spmcompat  # noqa: E402

project = "spmcompat"
author = "The spmcompat developers"
copyright = author
release = version = spmcompat.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinxcontrib.mermaid",
    "building",
]

root_doc = "docs/README"
source_suffix = {".md": "markdown"}
include_patterns = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "RELEASING.md",
    "SECURITY.md",
    "docs/*.md",
    "tests/README.md",
    "benchmarks/README.md",
    "benchmarks/papers/README.md",
]
exclude_patterns = [".*", "build", "dist", "spmcompat", "proto"]

nitpicky = True
# What docstrings name is on the page of the Python interface, but for the following.
nitpick_ignore_regex = [
    ("py:exc", r"[A-Z]\w*Error"),
    # The types in docstrings are words for people, such as "list of str".
    ("py:class", r"(?!spmcompat\.).*"),
]
default_role = "literal"
highlight_language = "none"

myst_enable_extensions = ["deflist", "attrs_block", "fieldlist"]
myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]

# Diagrams are drawn when the site is built, so that it loads no script from the network.
mermaid_cmd = f"{sys.executable} -m mmdr"
mermaid_output_format = "svg"

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_use_ivar = True
python_maximum_signature_line_length = 70

html_theme = "furo"
html_title = f"spmcompat {version}"
html_static_path = ["building/static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "sidebar_hide_name": False,
    "light_css_variables": {
        "color-brand-primary": "#0a5c8f",
        "color-brand-content": "#0a5c8f",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6bb8e6",
        "color-brand-content": "#6bb8e6",
    },
}
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
