"""What this site adds to Sphinx: directives for what is written from the package, and the repository's own pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import written
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

# A page that is nothing but one of the repository's, and where the site shows those.
INCLUDED = re.compile(r"```\{include\} \.\./(\w+\.md)\n```\n")
SHOWN = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "SECURITY.md": "security.md"}


def directive(lines: Callable[..., Iterator[str]]) -> type[SphinxDirective]:
    """A directive whose content is the Markdown that a function writes, given the directive's arguments."""

    class Written(SphinxDirective):
        optional_arguments = 1

        def run(self) -> list[nodes.Node]:
            return self.parse_text_to_nodes("\n".join(lines(*self.arguments)), allow_section_headings=True)

    return Written


def show_pages_of_the_repository(app: Sphinx, docname: str, source: list[str]) -> None:
    """A page that only includes one of the repository's becomes that page. Links to those lead to where they are shown.

    Folders outside docs/ are named, since a site has none.
    """
    up = "../" * (1 + docname.count("/"))
    included = INCLUDED.fullmatch(source[0])
    if included:
        path = app.srcdir.parent / included[1]
        app.env.note_dependency(path)
        source[0] = path.read_text(encoding="utf-8").replace("](docs/", "](")
    for name, shown in SHOWN.items():
        source[0] = source[0].replace(f"]({'' if included else up}{name}", f"]({up[3:]}{shown}")
    source[0] = re.sub(rf"\[([^\]]+)\]\({re.escape(up)}([^)]+/)\)", r"\1: `\2`", source[0])


def leave_out_inherited_plumbing(
    app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any
) -> bool | None:
    """scikit-learn gives every estimator `set_fit_request` and the like, whose help leads to its own site."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def draw_dashes(app: Sphinx, doctree: nodes.document) -> None:
    """Sphinx puts two hyphens between a parameter and what it is; `smartquotes` would also change "--help"."""
    for text in [text for text in doctree.findall(nodes.Text) if text == " -- "]:
        text.parent.replace(text, nodes.Text(" – "))


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls when it loads this extension."""
    app.add_directive("commands", directive(written.commands))
    app.add_directive("named-things", directive(written.named_things))
    app.add_directive("words", directive(written.words))
    app.connect("source-read", show_pages_of_the_repository)
    app.connect("doctree-read", draw_dashes)
    app.connect("autodoc-skip-member", leave_out_inherited_plumbing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


__all__ = ["setup"]
