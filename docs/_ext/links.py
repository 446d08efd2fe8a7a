"""Links within the built site that lead nowhere: `python docs/_ext/links.py docs/_build/html`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

LINK = re.compile(r"""(?:href|src)="([^"#?]*)[^"#]*(?:#([^"]*))?\"""")
# Links to other sites are not followed: the site is built offline.
ELSEWHERE = re.compile(r"https?:|mailto:|data:|javascript:|//")


@cache
def anchors(page: Path) -> frozenset[str]:
    """The names within a page that a link can lead to."""
    return frozenset(re.findall(r'\bid="([^"]+)"', page.read_text(encoding="utf-8")))


def dead(site: Path) -> Iterator[str]:
    """Each dead link, with the page that it stands on."""
    for page in sorted(site.rglob("*.html")):
        for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
            if ELSEWHERE.match(target):
                continue
            linked = page.parent / unquote(target) if target else page
            missing = anchor and linked.suffix == ".html" and linked.exists() and anchor not in anchors(linked)
            if not linked.exists() or missing:
                yield f"{page.relative_to(site).as_posix()}: {target}{'#' + anchor if anchor else ''}"


if __name__ == "__main__":
    found = list(dead(Path(sys.argv[1])))
    sys.exit("dead links:\n" + "\n".join(found) if found else 0)
