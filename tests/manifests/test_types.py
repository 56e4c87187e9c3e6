"""The `types.py` of components: what it says, that formatters and type checkers take it, that it is importable."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.manifests.cases import Case, cases
from toa.manifests.checking import check
from toa.manifests.types.component import types_of
from toa.manifests.types.source import constant, union

ROOT = Path(__file__).parents[2]
USES = Path(__file__).with_name("typed_uses.txt")

EXTREMES = Path(__file__).with_name("typed_extremes.yaml")
OPERATIONS = {
    "an_operation_with_a_name_that_is_as_long_as_any_name_may_ever_b": "transition(input, entry, context)",
    "countOnce": "transition(input, entry, context)",
    "count_once": "transition(input, entry, context)",
    "list": "observation(input, entries, context)",
    "reserved": "transition(input, entry, context)",
    "only_long": "computation(input, context)",
    "list_until": "transition(input, entry, context)",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the types of every sound manifest of the corpus, and of one with everything in it."""
    folder = tmp_path_factory.mktemp("written")
    extreme = Case(
        name="everything",
        about="",
        files={
            "store/everything/manifest.toa.yaml": EXTREMES.read_text(encoding="utf-8"),
            **{f"store/everything/operations/{n}.py": f"def {sig}: ...\n" for n, sig in OPERATIONS.items()},
        },
    )
    for case in [*cases("sound"), extreme]:
        checked = check([case.unpack(tmp_path_factory.mktemp("case"))])
        assert not checked.errors, [str(problem) for problem in checked.problems]
        for loaded in checked.manifests:
            assert loaded.spec is not None
            text = types_of(loaded.spec)
            assert text == types_of(loaded.spec)
            (folder / f"types_{case.name}_{loaded.spec.label}.py").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("width", [88, 100, 120])
def test_a_formatter_leaves_the_types_as_they_are(written: Path, width: int) -> None:
    done = ruff("format", "--diff", "--isolated", "--line-length", str(width), str(written))
    assert (done.returncode, done.stdout) == (0, "")


def test_a_linter_has_nothing_to_say_about_them(written: Path) -> None:
    rules = "F,E,W,I,B,C4,PIE,RUF,SIM,TID"
    done = ruff("check", "--isolated", "--select", rules, "--ignore", "E501", "--target-version", "py311", str(written))
    assert (done.returncode, done.stdout) == (0, "All checks passed!\n")


def test_they_are_importable_while_the_program_runs(written: Path) -> None:
    for path in sorted(written.glob("*.py")):
        names: dict[str, object] = {"__name__": path.stem}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
        assert {"Configuration", "Context", "EffectContext", "Local", "ObservationContext", "Operations"} <= set(names)


def test_a_type_checker_takes_them_and_finds_exactly_the_mistakes_in_a_component_that_uses_them(
    written: Path, tmp_path: Path
) -> None:
    """The uses stand in a file of their own; a line with a mistake ends in `# E: code`."""
    (order,) = written.glob("types_02_*.py")
    package = tmp_path / "typed"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "types.py").write_text(order.read_text(encoding="utf-8"), encoding="utf-8")
    uses = USES.read_text(encoding="utf-8")
    (package / "uses.py").write_text(uses, encoding="utf-8")

    said = mypy([*map(str, sorted(written.glob("*.py"))), str(package / "types.py"), str(package / "uses.py")])
    found = {(int(line), code) for line, code in re.findall(r"/uses\.py:(\d+): error: .*\[([a-z-]+)\]$", said, re.M)}
    expected = {
        (number, code)
        for number, line in enumerate(uses.splitlines(), start=1)
        for code in re.findall(r"# E: ([a-z-]+)", line)
    }
    assert found == expected, said
    assert [line for line in said.splitlines() if ": error: " in line and "/uses.py:" not in line] == []


def test_constants_have_the_quotes_that_a_formatter_prefers() -> None:
    barred, broken = "a | b", "line\nbreak"
    for value in ["plain", "it's", 'say "so"', "both ' and \"", 'two "" and \'', "back\\slash", broken, "ü", barred]:
        assert eval(constant(value)) == value
    assert [constant(value) for value in ("a", 'a"b', "a'b", "'\"", 1, True, None)] == [
        '"a"',
        "'a\"b'",
        '"a\'b"',
        '"\'\\""',
        "1",
        "True",
        "None",
    ]


def test_a_bar_inside_a_text_does_not_take_its_type_apart() -> None:
    literal = f"Literal[{constant('a | None | b | b')}]"
    assert union([literal, "int", "None"]) == f"{literal} | int | None"


def ruff(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ruff", *arguments], capture_output=True, text=True, timeout=60, check=False
    )


def mypy(files: list[str]) -> str:
    """What mypy says under the project's own rules."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--explicit-package-bases", *files],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=ROOT,
        env={**os.environ, "TOA_SERVERS": "off", "MYPYPATH": str(Path(files[-1]).parents[1])},
    )
    return done.stdout + done.stderr
