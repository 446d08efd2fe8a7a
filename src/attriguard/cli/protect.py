"""``attriguard protect``: ratings and a guard in, released ratings out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attriguard.cli import _options as o
from attriguard.errors import DataError, GuardFileError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

EXAMPLE = "Example: attriguard protect ratings.csv --guard city.guard --output released.csv --key @secret.key"


def protect(
    ratings: o.Ratings,
    guard: Annotated[Path, typer.Option(help="The guard file that 'attriguard fit' wrote.")],
    output: Annotated[Path, typer.Option(help="The released table to write: .csv, .csv.gz, .tsv or .parquet.")],
    goal: Annotated[
        str | None, typer.Option(help="mislead, conceal or both, for a guard learnt for both; else the guard's.")
    ] = None,
    policy: Annotated[str | None, typer.Option(help="modify_exist, add_new or modify_add; else the guard's.")] = None,
    budget: Annotated[float | None, typer.Option(help="Changed ratings a user, on average; else the guard's.")] = None,
    target: Annotated[str | None, typer.Option(help="train or uniform; else the guard's.")] = None,
    confidence: Annotated[str | None, typer.Option(help="A number, or auto; else the guard's.")] = None,
    key: Annotated[
        str | None,
        typer.Option(
            envvar="ATTRIGUARD_KEY",
            show_envvar=True,
            help="A secret that fixes every user's draw, so that repeated releases do not average the noise away; "
            "@FILE reads it from a file.",
        ),
    ] = None,
    seed: o.Seed = None,
    plan: Annotated[
        Path | None, typer.Option(help="Also write every edit and its probability (.parquet); keep it to yourself.")
    ] = None,
    locked: Annotated[
        Path | None,
        typer.Option(help="What must not change: a table with an item column, or with a user and an item column."),
    ] = None,
    additions: Annotated[
        Path | None, typer.Option(help="What may be added: a table with an item column and, if you like, a rating.")
    ] = None,
    user: o.User = None,
    item: o.Item = None,
    rating: o.Rating = None,
    duplicates: o.Duplicates = "error",
    as_json: o.AsJson = False,
) -> None:
    """Release a protected version of a table of ratings, in the same format.

    No user's attribute is needed, asked for, or written. An attacker who knows that you use a guard that misleads, and
    retrains on data protected by it, gets back most of what he lost; one that conceals holds better: see
    docs/limits.md.
    """
    import numpy as np

    from attriguard.cli._shell import console, emit_json, note, progress
    from attriguard.data.files import check_outputs
    from attriguard.data.ratings import read_ratings
    from attriguard.data.releases.release import align_items, refuse_attribute, write_release
    from attriguard.data.tables.table import check_output_suffix
    from attriguard.goals import phase_one_steps
    from attriguard.storage import guard_metadata, load_guard

    check_output_suffix(output)
    check_outputs(output, plan, read=[ratings, guard, locked, additions])
    secret = read_key(key)
    loaded = load_guard(guard)
    if loaded.items_ is None:
        raise GuardFileError(
            f"{guard} does not name its items, so they cannot be found in a table; make it with: attriguard fit"
        )
    changes = {
        "goal": goal,
        "policy": policy,
        "budget": budget,
        "target": target,
        "confidence": o.confidence_of(confidence),
        "additions": read_additions(additions),
    }
    loaded.set_params(**{name: value for name, value in changes.items() if value is not None})
    everybody, one_by_one = read_locked(locked)
    if everybody:
        loaded.set_params(locked=[*(loaded.locked or []), *everybody])
    loaded.check_parameters()
    like = loaded.scale is not None and loaded.scale.is_likes and rating is None
    data = read_ratings(
        ratings, user=user, item=item, rating=rating, scale=loaded.scale, duplicates=duplicates, like=like
    )
    if data.scale.is_likes and loaded.scale is not None and not loaded.scale.is_likes:
        raise DataError(
            f"{ratings} has no column of ratings, but {guard} was learnt from ratings, {loaded.scale}; name the column "
            "with --rating, or learn a guard from likes with: attriguard fit --like"
        )
    source = data.source
    if source is not None:
        refuse_attribute(source, str(guard_metadata(guard).get("attribute", "")))
    X, unknown = align_items(data, loaded.items_)
    if unknown.size:
        shown = ", ".join(str(name) for name in unknown[:5].tolist()) + (", …" if unknown.size > 5 else "")
        note(f"attriguard: warning: {unknown.size:,} items are unknown to the guard and stay untouched: {shown}")
    pattern, missed = locked_pattern(one_by_one, data.users, loaded.items_, X.shape)
    if missed:
        note(
            f"attriguard: warning: {len(missed):,} of {len(one_by_one):,} locked pairs name a user or an item that is "
            f"not there, the first is {missed[0][0]}, {missed[0][1]}"
        )
    with progress(phase_one_steps(loaded, X.shape[0])) as advance:
        made = loaded.plan(X, users=data.users, locked=pattern, progress=advance)
    released = made.release(seed, key=secret)
    if plan is not None:
        from attriguard.report.plan_table import write_plan

        write_plan(made, loaded, plan)
    summary = write_release(data, released, output, items=loaded.items_, random_state=seed, key=secret)
    telltale = [] if source is None else source.other_columns
    if summary.added and telltale:
        note(
            f"attriguard: warning: {', '.join(telltale)} {'is' if len(telltale) == 1 else 'are'} empty in added rows, "
            "which tells them from the others; drop such columns before publishing"
        )
    result: dict[str, Any] = {
        "output": str(output),
        "goal": loaded.goal,
        "users": data.n_users,
        "changed": summary.changed,
        "removed": summary.removed,
        "added": summary.added,
        "kept": summary.kept,
        "budget": float(np.mean(made.budget)),
        "expected_cost": float(made.expected_cost.mean()) if data.n_users else 0.0,
        "users_beyond_policy": int((made.extended & (made.probabilities > 0)).any(axis=1).sum()),
        "values_out_of_reach": 0 if made.target is None else int((~made.success).sum()),
        "users_with_too_few_ratings": 0 if made.target is not None else int((made.expected_cost < made.budget).sum()),
        "unknown_items": int(unknown.size),
    }
    if as_json:
        emit_json(result)
        return
    console().print(_summary(result), soft_wrap=True)


def _summary(result: dict[str, Any]) -> str:
    lines = [
        f"released {result['users']:,} users: {result['added']:,} ratings added, {result['removed']:,} removed, "
        f"{result['changed']:,} changed, {result['kept']:,} as they were",
        f"expected changes a user: {result['expected_cost']:.2f} (budget {result['budget']:g})",
    ]
    if result["users_beyond_policy"]:
        lines.append(
            f"{result['users_beyond_policy']:,} users have a value that the policy cannot reach; for these the policy "
            "was extended to modify_add"
        )
    if result["values_out_of_reach"]:
        lines.append(f"{result['values_out_of_reach']:,} (user, value) pairs could not be reached and are never drawn")
    if result["users_with_too_few_ratings"]:
        lines.append(f"{result['users_with_too_few_ratings']:,} users have fewer ratings to take away than the budget")
    return "\n".join([*lines, f"wrote {result['output']}"])


def read_key(key: str | None) -> bytes | None:
    """The key itself, or the content of the file behind @."""
    from attriguard.data.files import read_bytes
    from attriguard.mechanism.sampling import check_key

    if key is None:
        return None
    return check_key(read_bytes(Path(key[1:])).strip() if key.startswith("@") else key)


def _columns(path: Path, wanted: dict[str, bool]) -> dict[str, list[Any]]:
    """Columns of a small table by their role; True: the table must have it."""
    from attriguard.data.tables.columns import find_column
    from attriguard.data.tables.table import read_table

    table = read_table(path)
    found = {role: find_column(table.column_names, role) for role in wanted}
    if found["item"] is None and len(table.column_names) == 1:
        found["item"] = table.column_names[0]
    for role, needed in wanted.items():
        if needed and found[role] is None:
            raise DataError(f"{path} needs a column of {role}s, its columns are {table.shown_columns}")
    return {role: table.column(name).to_pylist() for role, name in found.items() if name is not None}


def read_additions(path: Path | None) -> Any:
    """A list of items, or item → rating where the table has ratings."""
    if path is None:
        return None
    columns = _columns(path, {"item": True, "rating": False})
    if "rating" in columns:
        return dict(zip(columns["item"], columns["rating"], strict=True))
    return columns["item"]


def read_locked(path: Path | None) -> tuple[list[Any], list[tuple[str, str]]]:
    """Items locked for everybody, and (user, item) pairs."""
    if path is None:
        return [], []
    columns = _columns(path, {"item": True, "user": False})
    if "user" not in columns:
        return columns["item"], []
    return [], [(str(u), str(i)) for u, i in zip(columns["user"], columns["item"], strict=True)]


def locked_pattern(
    pairs: list[tuple[str, str]], users: NDArray[Any], items: NDArray[Any], shape: tuple[int, int]
) -> tuple[csr_array | None, list[tuple[str, str]]]:
    """The pairs as a sparse pattern; and those whose user or item is not there, which have nothing to lock."""
    import numpy as np
    from scipy.sparse import csr_array

    if not pairs:
        return None, []
    rows = {str(user): u for u, user in enumerate(users.tolist())}
    columns = {str(item): j for j, item in enumerate(items.tolist())}
    known = {(rows[u], columns[i]) for u, i in pairs if u in rows and i in columns}
    index = np.array(sorted(known), dtype=np.int64).reshape(-1, 2)
    missed = [(u, i) for u, i in pairs if u not in rows or i not in columns]
    return csr_array((np.ones(len(index), dtype=np.float32), (index[:, 0], index[:, 1])), shape=shape), missed
