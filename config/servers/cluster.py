"""The files of the embedded PostgreSQL: made once, kept in order between its runs."""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .account import Account
from .place import Place, find_place, own_folder
from .problem import ServerProblem
from .programs import POSTGRES_MAJOR, last_line, run

SUPERUSER = "postgres"

# Meant for two cores, tests and a demo. What decides about correctness is left as PostgreSQL has it.
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    "synchronous_commit": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %a ",
    "log_lock_waits": "on",
}
# Survives the kill of any process, but not a power cut.
FAST_SETTINGS = {"fsync": "off", "full_page_writes": "off"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The data folder of one checkout's database, and what is remembered about it."""

    place: Place

    @property
    def folder(self) -> Path:
        return self.place.postgres

    @property
    def pid_file(self) -> Path:
        return self.folder / "postmaster.pid"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    @property
    def record(self) -> Path:
        """Holds the checkout that the database was last prepared for: a folder may be moved or copied."""
        return self.place.data / "checkout"

    @property
    def settings(self) -> Path:
        # Beside the folder: inside, the database's user could put a link in its place.
        return self.place.data / "postgres.conf"

    def prepared_for(self) -> Path | None:
        """The checkout that the database was last prepared for; None before it was."""
        with suppress(OSError):
            return Path(self.record.read_text().strip())
        return None

    def condition(self) -> str | None:
        """What the server wrote about itself: `starting`, `ready` or `stopping`; None without a server."""
        try:
            lines = self.pid_file.read_text().splitlines()
        except OSError:
            return None
        return lines[7].strip() if len(lines) > 7 else "starting"

    def put_in_order(self, programs: Path, account: Account | None, say: Callable[[str], None]) -> None:
        """Make the folder ready for a server to start in it. None runs in it now.

        Raises:
            ServerProblem: it belongs to somebody else, or to another version of PostgreSQL.
        """
        self.set_aside_copy(say)
        self.open_folders(account)
        if not self.folder.exists():
            say(f"Creating a PostgreSQL {POSTGRES_MAJOR} database in {self.folder}.")
            self.create(programs, account)
        self.check_version()
        self.forget_dead_server()
        self.write_settings()

    def set_aside_copy(self, say: Callable[[str], None]) -> None:
        """Set a database aside that was copied, with its checkout, while its server ran.

        Files read one after another while they change make no consistent database. A copy of one that had
        been stopped is as good as the original, and so is a checkout that was moved.
        """
        made_for = self.prepared_for()
        if made_for is None or made_for == self.place.checkout:
            return
        if self.pid_file.exists() and made_for.exists() and find_place(made_for).postgres.exists():
            aside = self.folder.with_name("postgres.copied")
            say(f"The database was copied from {made_for} while its server ran: set aside as {aside.name}.")
            shutil.rmtree(aside, ignore_errors=True)
            self.folder.rename(aside)

    def open_folders(self, account: Account | None) -> None:
        """Give the folders of data and socket to the database's user, closed to everybody else."""
        owner = account.uid if account else None
        group = account.gid if account else -1
        own_folder(self.place.sockets, mode=0o700, owner=owner, group=group)
        if self.folder.exists():
            if account:
                account.own(self.folder)
            own_folder(self.folder, mode=0o700, owner=owner)

    def create(self, programs: Path, account: Account | None) -> None:
        """Make a new cluster. It gets its name when it is complete: an interrupted one does not count."""
        unfinished = self.folder.with_name("postgres.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        if account:
            account.own(unfinished)
        options = ["--username", SUPERUSER, "--auth", "trust", "--no-instructions"]
        # The order of text does not depend on the machine's languages.
        options += ["--encoding", "UTF8", "--locale", "C", "--locale-provider", "builtin"]
        options += ["--builtin-locale", "C.UTF-8"]
        if is_fast():
            options += ["--no-sync"]
        done = run([programs / "initdb", "--pgdata", unfinished, *options], account)
        if done.returncode:
            raise ServerProblem(f"PostgreSQL could not create a database: {last_line(done.stderr)}")
        with (unfinished / "postgresql.conf").open("a") as file:
            file.write(f"include '../{self.settings.name}'\n")
        for of_the_last in (self.record, self.place.data / "migrated"):
            of_the_last.unlink(missing_ok=True)
        unfinished.rename(self.folder)

    def check_version(self) -> None:
        version = (self.folder / "PG_VERSION").read_text().strip()
        if version != POSTGRES_MAJOR:
            raise ServerProblem(
                f"The database in {self.folder} was made by PostgreSQL {version}, and the server here is "
                f"{POSTGRES_MAJOR}. Move the folder away, or remove it with `make clean`."
            )

    def forget_dead_server(self) -> None:
        """Remove what a server left that did not stop by itself.

        PostgreSQL believes the process number in these files, whoever has it by now, and would not start.
        """
        for path in (self.pid_file, self.place.socket, Path(f"{self.place.socket}.lock")):
            path.unlink(missing_ok=True)

    def write_settings(self) -> None:
        settings = SETTINGS | {"unix_socket_directories": str(self.place.sockets)}
        if is_fast():
            settings |= FAST_SETTINGS
        lines = [f"{name} = '{value}'" for name, value in settings.items()]
        self.settings.write_text("\n".join(["# Written anew at each start.", *lines, ""]))
        self.settings.chmod(0o644)

    def complaint(self) -> str:
        """The last complaint in the server's log, without its prefix."""
        with suppress(OSError):
            for line in reversed(self.log.read_text(errors="replace").splitlines()):
                if "FATAL:" in line or "PANIC:" in line:
                    return line.partition(":  ")[2].rstrip(".") + "."
        return ""


def is_fast() -> bool:
    """Whether speed is worth more than what a power cut would take."""
    return bool(os.environ.get("CI") or os.environ.get("TOA_FAST_DATABASE"))
