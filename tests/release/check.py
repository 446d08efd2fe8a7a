"""`make release-check`: build twice and compare, look into the archives, install them into empty environments, run.

Everything happens in a temporary folder; the archives that passed are left in dist/.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import contents

ROOT = contents.ROOT
CONSTRAINTS = ROOT / "constraints.txt"
# 1 January 2025 in UTC: archives do not tell when they were made, so that anybody can make the same bytes.
EPOCH = "1735689600"
WITH_BULK = """
import attriguard as ag
data = ag.load_dataset("twin", n_users=300, n_items=80, n_values=3)
guard = ag.learn(data, goal="conceal", budget_over="user", members=2, random_state=0)
ag.write_release(data, data.X, "ratings.csv")
print(ag.protect_files("ratings.csv", guard, "parts", key=b"0123456789abcdef").headline)
"""
WITH_NN = """
import attriguard as ag
data = ag.load_dataset("twin", n_users=300, n_items=80, n_values=3)
network = ag.NetworkClassifier(hidden=20, epochs=5, random_state=0)
guard = ag.learn(data, goal="mislead", classifier=network, random_state=0)
guard.save("nn.guard")
plan = ag.load_guard("nn.guard").plan(data.X[:20])
assert (plan.probabilities == guard.plan(data.X[:20]).probabilities).all()
print(f"a network's guard was saved and loaded: {plan.success.mean():.0%} of its candidates were found")
"""
EXTRAS = {"bulk": WITH_BULK, "nn": WITH_NN}


def say(text: str) -> None:
    """One line about what goes on."""
    sys.stdout.write(f"release-check: {text}\n")
    sys.stdout.flush()


def run(*command: str | Path, cwd: Path, **environment: str) -> None:
    """Run a command, and stop where it fails."""
    subprocess.run([*map(str, command)], cwd=cwd, check=True, env={**os.environ, **environment})


def sources(folder: Path) -> Path:
    """The committed and changed files of the repository, and none that git does not know."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], cwd=ROOT, check=True,
        capture_output=True,
    ).stdout.decode()  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and not name.startswith(("results/", "docs/", "tests/")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def build(folder: Path) -> dict[str, str]:
    """Both archives, by a build of its own: their names and SHA-256."""
    made = sources(folder / "source")
    run(sys.executable, "-m", "build", "--outdir", folder / "dist", cwd=made, SOURCE_DATE_EPOCH=EPOCH)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted((folder / "dist").iterdir())}


def check_archives(archives: list[Path]) -> None:
    """What they hold, and what an index would say about them."""
    needed = contents.expected()
    for archive in archives:
        wrong = list(contents.mistakes(contents.names_of(archive), needed, wheel=archive.suffix == ".whl"))
        if wrong:
            sys.exit(f"{archive.name}:\n" + "\n".join(wrong))
    run(sys.executable, "-m", "twine", "check", "--strict", *archives, cwd=ROOT)


def environment(folder: Path) -> Path:
    """An empty environment: its folder of programs."""
    venv.create(folder, with_pip=True)
    return folder / ("Scripts" if os.name == "nt" else "bin")


def install_and_run(wheel: Path, folder: Path) -> None:
    """Without extras: the demo. With those for large tables and for networks: a run of each."""
    programs = environment(folder / "venv")
    install = [programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    say("installing without extras, and running the demo")
    run(*install, "--constraint", CONSTRAINTS, wheel, cwd=folder)
    run(programs / "attriguard", "demo", "--quiet", "--output", "demo.html", cwd=folder)
    if not (folder / "demo-person.html").stat().st_size:
        sys.exit("the demo wrote no page for a person")
    for extra, script in EXTRAS.items():
        say(f"installing the extra {extra}, and running what needs it")
        run(*install, "--constraint", CONSTRAINTS, f"{wheel}[{extra}]", cwd=folder)
        run(programs / "python", "-c", script, cwd=folder)


def main() -> None:
    """All of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        say("building twice")
        (folder / "first").mkdir()
        (folder / "second").mkdir()
        first, second = build(folder / "first"), build(folder / "second")
        if first != second:
            sys.exit(f"two builds differ:\n{first}\n{second}")
        archives = [folder / "first" / "dist" / file for file in first]
        check_archives(archives)
        (wheel,) = (path for path in archives if path.suffix == ".whl")
        install_and_run(wheel, folder)
        shutil.rmtree(ROOT / "dist", ignore_errors=True)
        shutil.copytree(folder / "first" / "dist", ROOT / "dist")
    for file, digest in first.items():
        say(f"{digest}  dist/{file}")


if __name__ == "__main__":
    main()
