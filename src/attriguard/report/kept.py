"""What those infer who kept the releases of a ledger: a section of the audit's page."""

from __future__ import annotations

from collections.abc import Iterable

from attriguard.evaluation.audit import Audit
from attriguard.evaluation.inference import Estimate, Inference, strongest
from attriguard.evaluation.kept import Kept
from attriguard.report.attack_names import full_name
from attriguard.report.audit_words import inferred
from attriguard.report.page import Section, Table


def figures_table(found: Iterable[Inference], caption: str) -> Table:
    """Attackers with all their figures."""
    rows = [
        [full_name(each.attack), *(_with_margin(figure) for figure in (each.accuracy, each.balanced, each.auc))]
        for each in found
    ]
    return Table(["attacker", "accuracy", "balanced accuracy", "AUC"], rows, numeric=(1, 2, 3), caption=caption)


def kept_table(kept: Kept) -> Table:
    """What everybody infers who has kept all releases of a ledger."""
    return figures_table(
        kept.found,
        f"what the releases so far tell ({kept.n_releases}), of {kept.n_users:,} users who were in them; "
        "±: 95 % intervals",
    )


def kept_section(audit: Audit, kept: Kept) -> Section:
    """The strongest of them in words, and the table."""
    best = strongest(kept.found, audit.figure)
    said = inferred(audit, getattr(best, audit.figure).value)
    users = " of 100 users" if audit.figure == "accuracy" else ""
    return Section(
        title="What the releases so far tell",
        text=[
            f"An attacker who kept all releases {said}{users}, with {full_name(best.attack)}.",
            "The releases are rebuilt from the ledger: what was told once counts as told in every later release.",
        ],
        parts=[kept_table(kept)],
    )


def _with_margin(figure: Estimate) -> str:
    return f"{figure.value:.3f} ± {figure.margin:.3f}"
