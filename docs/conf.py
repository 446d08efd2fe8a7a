"""How Sphinx builds the site: `make docs`. Pages are MyST Markdown; tutorials are MyST notebooks, run as it builds."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import attriguard

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project, author, copyright = "attriguard", "The attriguard developers", "The attriguard developers"
version = release = attriguard.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_design", "site_parts"]
exclude_patterns = ["_build", "images"]
html_theme, html_title = "furo", "attriguard"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False  # sources are in the repository; a notebook is offered on its page
html_theme_options = {"navigation_with_keys": True}

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
# Examples in ``` blocks are run by the tests, those in notebooks are run here: each tutorial takes seconds, but the
# first that needs a kernel compiles it.
nb_execution_mode, nb_execution_timeout, nb_execution_raise_on_error = "force", 60, True
nb_execution_in_temp = True  # what a tutorial writes does not stay
nb_merge_streams = True
os.environ["PYTHONWARNINGS"] = "ignore"  # of the kernels: a library's warning belongs on no page
nb_output_stderr = "remove"  # nor does what Java says at its start, which names the machine
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
os.environ["PYSPARK_SUBMIT_ARGS"] = "--conf spark.log.level=OFF --conf spark.ui.showConsoleProgress=false pyspark-shell"

autodoc_default_options = {"members": True, "inherited-members": False}
autodoc_member_order, autodoc_typehints, autodoc_preserve_defaults = "bysource", "signature", False
autodoc_class_signature = "mixed"
napoleon_numpy_docstring, napoleon_google_docstring, napoleon_use_rtype = True, False, False
napoleon_attr_annotations = False  # types stand in the signature
default_role = "code"  # `name` in a docstring
smartquotes = False  # "--help" is no dash
