"""``attriguard evaluate``: attacks against budgets, goals or defenses side by side."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attriguard.cli import _options as o
from attriguard.errors import ParameterError

if TYPE_CHECKING:
    import attriguard as ag

EXAMPLE = "Example: attriguard evaluate --dataset google-play --attacker-units 500 --work runs --plot curves.svg"
AWARE, GOALS, RIVALS = "Attackers who know the guard", "Goals side by side", "Defenses side by side"
ALL = "all"


@dataclass(frozen=True)
class Options:
    """The options of ``evaluate`` alone."""

    attacks: Annotated[
        str, typer.Option(help="The attackers, with commas between, or all; your own as MODULE:CLASS.")
    ] = ALL
    budgets: Annotated[str, typer.Option(help="The budgets, with commas between.")] = "0.5,1,2,3,4,5,6,8"
    attacker_units: Annotated[
        int | None, typer.Option(help="Hidden units of the attackers' networks; as in the paper otherwise: 30,000.")
    ] = None
    draws: Annotated[
        int,
        typer.Option(help="How often a retrained attacker protects each user, and a defense that draws is drawn."),
    ] = 4
    output: Annotated[Path | None, typer.Option(help="Also write the figures: .json, .csv, .parquet or .html.")] = None
    plot: Annotated[Path | None, typer.Option(help="Also draw them: a file that ends in .svg or .html.")] = None
    work: Annotated[
        Path | None, typer.Option(help="A folder for what was learnt, to go on from; the user's cache otherwise.")
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same figures.")] = 0


@dataclass(frozen=True)
class Knowing:
    """Attackers who know the guard."""

    retrained: Annotated[
        str, typer.Option(help="Attackers to be shown as ones who know and retrain.", rich_help_panel=AWARE)
    ] = ""
    inversion: Annotated[
        str, typer.Option(help="Attackers to be shown as ones who know and undo the guard.", rich_help_panel=AWARE)
    ] = ""
    detector: Annotated[
        bool, typer.Option("--detector", help="Also how well protected users are told apart.", rich_help_panel=AWARE)
    ] = False

    def given(self, draws: int) -> ag.Knowing:
        """The same for the operation."""
        import attriguard as ag

        return ag.Knowing(o.plug_ins(self.retrained), o.plug_ins(self.inversion), self.detector, draws)


@dataclass(frozen=True)
class Goals:
    """Goals side by side, over several seeds."""

    goals: Annotated[
        str, typer.Option(help="Compare these goals, with commas between, or all.", rich_help_panel=GOALS)
    ] = ""
    seeds: Annotated[
        str, typer.Option(help="The seeds, with commas between; --seed otherwise.", rich_help_panel=GOALS)
    ] = ""
    twin: Annotated[
        str, typer.Option(help="USERSxITEMSxVALUES of the twin, such as 6040x3706x2.", rich_help_panel=GOALS)
    ] = ""


@dataclass(frozen=True)
class Rivals:
    """Defenses side by side."""

    defenses: Annotated[
        str,
        typer.Option(help="Compare these defenses, with commas between, or all; see docs/defenses.md.",
                     rich_help_panel=RIVALS),
    ] = ""  # fmt: skip
    strengths: Annotated[
        list[str] | None,
        typer.Option(help="A defense's own strengths, such as BlurMe=1,10,100; again for another.",
                     rich_help_panel=RIVALS),
    ] = None  # fmt: skip
    reach: Annotated[
        str,
        typer.Option(help="Show what each defense needs to bring the attackers down to these shares; 10 to 80 % "
                     "of the way from guessing to what is inferred now otherwise.", rich_help_panel=RIVALS),
    ] = ""  # fmt: skip
    recommender: Annotated[
        str | None,
        typer.Option(
            help="Also what they cost a recommender where the first attacker infers equally little: SVD, ALS, PureSVD.",
            rich_help_panel=RIVALS,
        ),
    ] = None
    at: Annotated[
        float | None,
        typer.Option(help="That accuracy; the lowest that all of them reach otherwise.", rich_help_panel=RIVALS),
    ] = None
    holdouts: Annotated[
        int,
        typer.Option(help="How often the recommender's test items are drawn anew.", min=1, rich_help_panel=RIVALS),
    ] = 3

    @property
    def cost(self) -> ag.RecommenderTest | None:
        """What the operation measures with a recommender."""
        import attriguard as ag

        return None if self.recommender is None else ag.RecommenderTest(self.recommender, self.at, self.holdouts)


def evaluate(
    source: o.Source, own: Options, guard: o.Guard, knowing: Knowing, goals: Goals, rivals: Rivals,
    columns: o.Columns, reading: o.Reading, shown: o.Shown,
) -> None:  # fmt: skip
    """How much do attackers infer before and after protection, for each budget?

    Attackers and guard learn from the same training users, as in the paper. What was predicted is kept, so that the
    same command again takes seconds and an interrupted one goes on. Those who know the guard (--retrained,
    --inversion, --detector) are measured on three groups: the guard's users, the attacker's users, the test users.
    """
    import attriguard as ag
    from attriguard.cli._shell import bar, check_files, show

    check(own, knowing, goals, rivals)
    if not goals.twin:
        source.check()
    check_files(shown, own.plot, result=own.output, tables=source.files)
    common: dict[str, Any] = {"attack_options": {"hidden": own.attacker_units}, "work": own.work}
    # The attackers do not know the guard's network, so the seeds differ.
    common |= guard.options(seed=own.seed + 1, goal="both" if goals.goals else None)
    budgets = o.numbers(own.budgets, "budgets")
    data = twin(goals.twin, source) if goals.twin else o.load(source, columns, reading, shown)
    with bar(shown) as progress:
        common["progress"] = progress
        if rivals.defenses.strip():
            result = compared(data, own, rivals, budgets, common)
        else:
            result = ag.evaluate(
                data, attacks=listed(own.attacks), budgets=budgets, knowing=knowing.given(own.draws),
                goals=ag.goals.names() if goals.goals.strip() == ALL else o.words(goals.goals),
                random_state=seeds_of(goals, own.seed), **common,
            )  # fmt: skip
    show(result, shown, saved=own.output, drawn=own.plot, seed=goals.seeds or own.seed, read=source.told)


def compared(data: ag.PublicData, own: Options, rivals: Rivals, budgets: list[float], common: dict[str, Any]) -> Any:
    """Defenses side by side."""
    import attriguard as ag

    attacks, wanted = listed(own.attacks), listed(rivals.defenses)
    guard = {"AttriGuard": budgets} if wanted == ALL or "AttriGuard" in wanted else {}
    named: dict[str, Any] = {} if attacks == ALL else {"attacks": attacks}
    return ag.compare(
        data,
        defenses=wanted,
        strengths={**guard, **strengths_of(rivals.strengths or ())},
        reach=o.numbers(rivals.reach, "--reach") if rivals.reach.strip() else None,
        cost=rivals.cost,
        draws=own.draws,
        random_state=own.seed,
        **named,
        **common,
    )


def check(own: Options, knowing: Knowing, goals: Goals, rivals: Rivals) -> None:
    """Refuse options that do not go together."""
    if own.plot is not None and own.plot.suffix not in (".svg", ".html"):
        raise ParameterError(f"--plot must name a file that ends in .svg or .html, got {own.plot.name}")
    if own.plot is not None and own.plot.suffix == ".svg" and goals.goals.strip():
        raise ParameterError("--goals has a page, but no drawing; let --plot name a file that ends in .html")
    knows = knowing.retrained or knowing.inversion or knowing.detector
    if rivals.defenses.strip() and knows:
        raise ParameterError(
            "--retrained, --inversion and --detector measure one guard; leave them out with --defenses"
        )
    if not rivals.defenses.strip() and (rivals.strengths or rivals.recommender is not None or rivals.at is not None):
        raise ParameterError("--strengths, --recommender and --at compare defenses; name those with --defenses")
    if rivals.at is not None and rivals.recommender is None:
        raise ParameterError("--at says where a recommender is compared; name it with --recommender")
    if not own.attacks.strip():
        raise ParameterError("--attacks names the attackers, or all of them: all")
    if goals.goals.strip() and (rivals.defenses.strip() or knowing.retrained or knowing.detector):
        raise ParameterError(
            "--goals measures every attacker unaware and retrained; of the other comparisons it takes --inversion only"
        )
    if goals.seeds and not goals.goals.strip():
        raise ParameterError("--seeds are for --goals; name one seed with --seed")


def listed(text: str) -> list[str] | str:
    """Names with commas between, or "all"."""
    return ALL if text.strip() == ALL else o.plug_ins(text)


def seeds_of(goals: Goals, seed: int) -> int | list[int]:
    """One seed, or several."""
    if not goals.seeds:
        return seed
    given = o.numbers(goals.seeds, "--seeds")
    if not all(number.is_integer() and number >= 0 for number in given):
        raise ParameterError(f"--seeds must be whole numbers, 0 or more, such as 0,1,2, got {goals.seeds!r}")
    return [int(number) for number in given]


def strengths_of(given: list[str] | tuple[()]) -> dict[str, list[float]]:
    """BlurMe=1,10,100 → its strengths."""
    known = {}
    for text in given:
        name, _, numbers = text.partition("=")
        known[name.strip()] = o.numbers(numbers, f"--strengths {name}=")
    return known


def twin(text: str, source: o.Source) -> ag.PublicData:
    """The twin of another size, and no other data."""
    import attriguard as ag

    if source.files or source.dataset not in (None, "twin"):
        raise ParameterError("--twin is data of its own; leave out RATINGS, --attributes and --dataset")
    try:
        users, items, values = map(int, text.split("x"))
    except ValueError:
        raise ParameterError(f"--twin must be USERSxITEMSxVALUES, such as 6040x3706x2, got {text!r}") from None
    return ag.load_dataset("twin", n_users=users, n_items=items, n_values=values)
