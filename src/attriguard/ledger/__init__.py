"""The ledger: what was released of whom, kept by the publisher, so that the next release tells nothing twice.

``entries`` is what it holds, ``store`` how it lies on the disk, and ``standing`` what an attacker has of the users of
a table once it has been released so often.
"""

from __future__ import annotations
