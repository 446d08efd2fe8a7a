"""The audit in the words of data protection officers: which risk it measures, which not, and a paragraph to copy."""

from __future__ import annotations

from attriguard.evaluation.audit import Audit
from attriguard.report.audit_words import summary
from attriguard.report.page import Section

OPINION = "the Article 29 Working Party's Opinion 05/2014 on anonymisation techniques"
POINTS = (
    "Linkability and singling out are not measured. Released rows keep their ids and most of their ratings: assume "
    "that both risks are what they were.",
    "A release lowers inference risk for one attribute, against attackers like those that were tried. It does not make "
    "the table anonymous, and it says nothing about other attributes.",
    "Figures are averages over users, and what was found on this table; nothing here bounds what another attacker "
    "infers.",
)


def for_an_assessment(audit: Audit) -> Section:
    """What an officer copies into an impact assessment, with this audit's own figures."""
    about = audit.about
    return Section(
        title="In the words of an impact assessment",
        text=[
            f"This page measures inference risk in the sense of {OPINION}: whether “{about.attribute}” of a person can "
            "be deduced from the person's ratings. To copy:",
            f"“The table holds {about.n_ratings:,} ratings by {about.n_users:,} users. The risk that "
            f"“{about.attribute}” is inferred from them was measured by attacks on {audit.now.n_users:,} users whose "
            "value is known. "
            f"{summary(audit)} Singling out and linkability were not measured. The figures hold for the attackers that "
            "were tried, on average over users, and are no upper bound.”",
        ],
        points=POINTS,
    )
