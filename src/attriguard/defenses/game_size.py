"""How large the program of appendix A is: whole numbers of any size, since the paper's example has 6^200 variables."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10

from attriguard.errors import ParameterError

# The largest program that is solved unless asked for more: a minute or so, and well under a gigabyte.
MAX_VARIABLES = 250_000
# A stored coefficient: 8 bytes and its row number.
BYTES_A_COEFFICIENT = 12


@dataclass(frozen=True, kw_only=True)
class ProgramSize:
    """The size of the linear program for a domain with so many points and an attribute with so many values."""

    points: int
    values: int

    @property
    def variables(self) -> int:
        """f(x'|x) for all pairs, and y for each x'."""
        return self.points**2 + self.points

    @property
    def constraints(self) -> int:
        """The budget; the attacker's choices at each x'; each row of f sums to 1."""
        return 1 + self.points * self.values + self.points

    @property
    def memory(self) -> int:
        """Bytes of the coefficients alone; a solver needs several times as much."""
        return BYTES_A_COEFFICIENT * (self.points**2 * (2 + self.values) + self.points * self.values)

    def __str__(self) -> str:
        return (
            f"{about(self.points)} points, {about(self.variables)} variables, {about(self.constraints)} constraints "
            f"and at least {about(-(-self.memory // 10**6))} MB"
        )


def about(number: int) -> str:
    """A number for reading: 12,345 as it is, 6**200 as "about 4e155"."""
    if number < 10**7:
        return f"{number:,}"
    exponent = floor(log10(number))  # exact enough for integers of any length, which floats are not
    lead = round(10 ** (log10(number) - exponent))
    return f"about 1e{exponent + 1}" if lead == 10 else f"about {lead}e{exponent}"


def check_size(points: int, values: int, max_variables: int = MAX_VARIABLES) -> ProgramSize:
    """The size, refused where it is too large."""
    size = ProgramSize(points=points, values=values)
    if size.variables > max_variables:
        raise ParameterError(
            f"the game-theoretic optimum does not fit: {size}, but at most {max_variables:,} variables are allowed; "
            "take fewer items or levels, or raise max_variables"
        )
    return size
