"""The embedded PostgreSQL: found when it runs, started when it does not.

A real server of its own, reached through a Unix socket in a folder that only its user can enter.
"""

import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from . import processes
from .account import database_account
from .cluster import SUPERUSER, Cluster
from .place import Place
from .problem import ServerProblem
from .programs import last_line, postgres_programs, run

PROGRAM = "postgres"
# As in production, the application owns its database and is not a superuser.
ROLE = "toa"
READY_WITHIN_S = 90
STOPPED_WITHIN_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Postgres:
    """The database server of one checkout."""

    place: Place
    name: ClassVar[str] = "PostgreSQL"

    @property
    def cluster(self) -> Cluster:
        return Cluster(place=self.place)

    @property
    def url(self) -> str:
        """The address of the database, in the form of `DATABASE_URL`."""
        return f"postgresql://{ROLE}@/{ROLE}?host={quote(str(self.place.sockets), safe='/')}"

    def is_ready(self) -> bool:
        """Whether the server answers and was prepared for this checkout. Takes less than a millisecond."""
        return self.answers() and self.cluster.prepared_for() == self.place.checkout

    def answers(self) -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection, suppress(OSError):
            connection.settimeout(1.0)
            connection.connect(str(self.place.socket))
            # While it starts or stops, it listens and turns everybody away.
            return self.cluster.condition() == "ready"
        return False

    def start(self, *, say: Callable[[str], None]) -> None:
        """Start the server, with a new cluster where there is none. The caller holds the checkout's lock.

        Raises:
            ServerProblem: it cannot be started; the message says why, and what to do.
        """
        if not self.answers() and not self.comes_up_by_itself():
            if left_over := processes.working_in(self.place.postgres, PROGRAM):
                say(f"Replacing a left-over PostgreSQL of this checkout (process {left_over[0].pid}).")
                self.end()
            self.launch(say)
        self.create_role()
        self.cluster.record.write_text(f"{self.place.checkout}\n")

    def stop(self) -> bool:
        """Stop the server if it runs; answers whether it ran. The caller holds the checkout's lock."""
        ran = bool(processes.working_in(self.place.postgres, PROGRAM))
        self.end()
        return ran

    def end(self) -> None:
        # To PostgreSQL SIGINT says: end the sessions, write what is dirty, leave.
        processes.end(self.place.postgres, PROGRAM, politely=signal.SIGINT, patience_s=STOPPED_WITHIN_S)

    def comes_up_by_itself(self) -> bool:
        """Wait for a server that recovers, begun by a process that is gone; answers whether it is ready."""
        give_up = time.monotonic() + READY_WITHIN_S
        while self.cluster.condition() in {"starting", "stopping"} and time.monotonic() < give_up:
            if not processes.working_in(self.place.postgres, PROGRAM):
                return False
            time.sleep(0.05)
        return self.answers()

    def launch(self, say: Callable[[str], None]) -> None:
        cluster = self.cluster
        account = database_account(self.place.postgres) if self.place.as_other_user else None
        programs = postgres_programs(self.place)
        cluster.put_in_order(programs, account, say)
        if cluster.log.exists():
            cluster.log.replace(cluster.log.with_suffix(".previous.log"))
        # The output of the server goes to its log, so nothing here waits for as long as it lives.
        files: list[str | Path] = ["--pgdata", cluster.folder, "--log", cluster.log]
        options = ["--silent", "--wait", f"--timeout={READY_WITHIN_S}"]
        done = run([programs / "pg_ctl", "start", *files, *options], account)
        if done.returncode or not self.answers():
            reason = cluster.complaint() or last_line(done.stderr)
            raise ServerProblem(f"PostgreSQL did not start: {reason} Its log is {cluster.log}.")

    def create_role(self) -> None:
        """Make sure that the application's role and database exist."""
        import psycopg

        try:
            with psycopg.connect(
                host=str(self.place.sockets), user=SUPERUSER, dbname="postgres", autocommit=True
            ) as connection:
                if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone():
                    connection.execute(f"CREATE ROLE {ROLE} LOGIN CREATEDB IN ROLE pg_monitor")
                if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [ROLE]).fetchone():
                    connection.execute(f"CREATE DATABASE {ROLE} OWNER {ROLE}")
        except psycopg.Error as error:
            raise ServerProblem(f"PostgreSQL runs, but could not be prepared: {error}") from error
