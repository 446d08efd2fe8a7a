"""What the noise costs: how much of the data it changes, and how much worse recommendations get."""

from __future__ import annotations
