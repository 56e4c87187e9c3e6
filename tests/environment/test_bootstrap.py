"""The virtual environment: built, left alone, repaired, and never a traceback."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from config import bootstrap
from config.servers import CHECKOUT

INTERPRETER = bootstrap.base_interpreter()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout that requires nothing, so that nothing has to be fetched."""
    folder = tmp_path.resolve() / "checkout"
    for name in ("Makefile", "config/bootstrap.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / name, folder / name)
    (folder / "requirements").mkdir()
    (folder / "requirements" / "dev.txt").touch()
    return folder


def make(checkout: Path, *arguments: str, path: str = os.environ["PATH"]) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": path, "HOME": os.environ.get("HOME", "/")}
    command = [shutil.which("make") or "make", "venv", *arguments]
    return subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, timeout=120)


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def pretending(path: Path, version: tuple[int, int, int], missing: str = "") -> Path:
    """A Python that claims to be of another version, or to come without a module."""
    text = f"""#!/bin/sh
exec '{INTERPRETER}' -c '
import importlib.util, runpy, sys
sys.version_info = {version}
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name == "{missing}" else find_spec(name)
if sys.argv[1] == "-c":
    exec(sys.argv[2])
else:
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
' "$@"
"""
    return program(path, text)


def tools(folder: Path) -> str:
    """A search path with what `make` needs and no Python."""
    folder.mkdir()
    for name in ("make", "sh"):
        (folder / name).symlink_to(shutil.which(name) or name)
    return str(folder)


def test_it_is_read_by_interpreters_that_are_too_old() -> None:
    ast.parse((CHECKOUT / "config" / "bootstrap.py").read_text(), feature_version=(3, 6))


def test_the_pinned_requirements_name_no_place_to_fetch_from() -> None:
    for path in (CHECKOUT / "requirements").glob("*.txt"):
        lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
        assert lines
        assert [line for line in lines if "==" not in line or "://" in line or "@" in line] == []


def test_an_old_python_is_told_in_a_sentence(checkout: Path, tmp_path: Path) -> None:
    old = pretending(tmp_path / "python3.9", (3, 9, 18))
    done = make(checkout, f"PYTHON={old}")
    assert done.returncode != 0
    assert done.stdout == (
        f"toa needs Python 3.11, 3.12 or 3.13; {INTERPRETER} is 3.9.18. "
        "Install one of them, or name it: make PYTHON=/path/to/python3.\n"
    )
    assert not (checkout / ".venv").exists()


def test_a_python_that_does_not_run_is_told_in_a_sentence(checkout: Path) -> None:
    done = make(checkout, "PYTHON=/nonexistent/python3")
    assert done.returncode != 0
    assert done.stdout.startswith(
        "toa needs Python 3.11, 3.12 or 3.13, and /nonexistent/python3 does not run.\nInstall one"
    )


def test_no_python_is_told_in_a_sentence(checkout: Path, tmp_path: Path) -> None:
    done = make(checkout, path=tools(tmp_path / "bin"))
    assert done.returncode != 0
    assert done.stdout.startswith("toa needs Python 3.11, 3.12 or 3.13, and no Python was found.\n")


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_a_python_without_a_module_is_told_in_a_sentence(checkout: Path, tmp_path: Path, module: str) -> None:
    python = pretending(tmp_path / "python3.11", (3, 11, 2), missing=module)
    done = make(checkout, f"PYTHON={python}")
    assert done.returncode != 0
    assert done.stdout.startswith(f"Python at {INTERPRETER} comes without its module '{module}'. Install it ")
    assert "Traceback" not in done.stderr


def test_programs_that_fail_or_are_too_old_are_passed_over(checkout: Path, tmp_path: Path) -> None:
    path = tools(tmp_path / "bin")
    program(tmp_path / "bin" / "python3.11", "#!/bin/sh\necho 'command not found' >&2\nexit 127\n")
    pretending(tmp_path / "bin" / "python3.12", (3, 10, 1))
    (tmp_path / "bin" / "python3.13").symlink_to(INTERPRETER)
    done = make(checkout, path=path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (checkout / ".venv" / "bin" / "python").exists()


def test_it_is_built_once_left_alone_and_repaired(checkout: Path) -> None:
    environment = bootstrap.Environment(str(checkout))
    build = [sys.executable, str(checkout / "config" / "bootstrap.py")]

    def run() -> list[str]:
        done = subprocess.run(build, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, "")
        return [line.partition(" ")[0] for line in done.stdout.splitlines()]

    assert run() == ["Creating", "Installing"]
    assert environment.is_complete(INTERPRETER)
    assert run() == []

    # Other requirements go into what is there.
    requirements = checkout / "requirements" / "dev.txt"
    requirements.write_text("# changed\n")
    assert run() == ["Installing"]
    assert run() == []

    # A copy of it, with the addresses of the original written into its programs, is none.
    copy = checkout.with_name("copy")
    shutil.copytree(checkout, copy, symlinks=True)
    copied = bootstrap.Environment(str(copy))
    assert not copied.is_complete(INTERPRETER)
    assert not copied.is_usable(INTERPRETER)

    # Neither is one whose interpreter was removed.
    python = Path(environment.python)
    target = python.readlink()
    python.unlink()
    python.symlink_to("/nonexistent/python3")
    assert not environment.is_complete(INTERPRETER)
    assert not environment.is_usable(INTERPRETER)
    python.unlink()
    python.symlink_to(target)
    assert environment.is_complete(INTERPRETER)

    # A failure is told in sentences. What it left may be half a package, so all is made anew.
    requirements.write_text("/nonexistent/package.whl\n")
    failed = subprocess.run(build, capture_output=True, text=True, timeout=120)
    assert (failed.returncode, failed.stderr) == (1, "")
    assert "The requirements could not be installed: " in failed.stdout
    assert environment.log in failed.stdout
    assert Path(environment.log).read_text()
    requirements.write_text("# changed\n")
    assert not environment.is_complete(INTERPRETER)
    assert run() == ["Creating", "Installing"]


def test_a_folder_that_cannot_be_written_is_told_in_a_sentence(checkout: Path) -> None:
    (checkout / ".venv").touch()
    done = make(checkout)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert done.stdout.splitlines()[-1].startswith("The virtual environment")
