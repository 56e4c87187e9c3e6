"""The embedded Valkey, the broker: on a free loopback port, remembered, behind a password of the checkout.

It keeps nothing on disk. The broker carries hints alone, and losing all of them loses nothing.
"""

import hashlib
import hmac
import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from . import processes
from .place import Place, own_folder
from .problem import ServerProblem
from .programs import last_line, run, valkey_program
from .secret import secret_key

PROGRAM = "valkey-server"
HOST = "127.0.0.1"
# The first is for development; test runs at the same time use others.
DATABASES = 64
READY_WITHIN_S = 10.0
STOPPED_WITHIN_S = 5.0
# Between the choice of a free port and the start, another program may take it.
TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Valkey:
    """The broker of one checkout."""

    place: Place
    name: ClassVar[str] = "Valkey"

    @property
    def url(self) -> str:
        """The address of the broker, in the form of `REDIS_URL`; with port 0 where it was never started."""
        return f"redis://:{self.password()}@{HOST}:{self.port() or 0}/0"

    @property
    def log(self) -> Path:
        return self.place.valkey / "valkey.log"

    def port(self) -> int | None:
        """The port it was last started on."""
        with suppress(OSError, ValueError):
            noted = int((self.place.valkey / "port").read_text())
            return noted if 0 < noted < 1 << 16 else None
        return None

    def password(self) -> str:
        """Different for each path: a copied checkout must not take the original's broker for its own."""
        path = os.fsencode(self.place.checkout)
        return hmac.new(secret_key(self.place).encode(), path, hashlib.sha256).hexdigest()[:32]

    def is_ready(self) -> bool:
        """Whether it answers: a stranger on its port does not know the password. Takes a millisecond."""
        port = self.port()
        if port is None:
            return False
        with suppress(OSError), socket.create_connection((HOST, port), timeout=1.0) as connection:
            connection.sendall(f"AUTH {self.password()}\r\n".encode())
            return connection.recv(64).startswith(b"+OK")
        return False

    def start(self, *, say: Callable[[str], None]) -> None:
        """Start the server. The caller holds the checkout's lock.

        Raises:
            ServerProblem: it cannot be started; the message says why, and what to do.
        """
        if self.is_ready():
            return
        if left_over := processes.working_in(self.place.valkey, PROGRAM):
            say(f"Replacing a left-over Valkey of this checkout (process {left_over[0].pid}).")
            self.end()
        own_folder(self.place.valkey, mode=0o700)
        program = valkey_program()
        port = self.port()
        if port is not None and not is_free(port):
            say(f"Port {port}, where Valkey was, is taken by another program: it moves to a free one.")
            port = None
        for _ in range(TRIES):
            self.launch(program, port or free_port())
            if self.comes_up():
                return
            self.end()
            port = None
        raise ServerProblem(f"Valkey did not start. Its log is {self.log}.")

    def stop(self) -> bool:
        """Stop the server if it runs; answers whether it ran. The caller holds the checkout's lock."""
        ran = bool(processes.working_in(self.place.valkey, PROGRAM))
        self.end()
        return ran

    def end(self) -> None:
        processes.end(self.place.valkey, PROGRAM, politely=signal.SIGTERM, patience_s=STOPPED_WITHIN_S)

    def launch(self, program: Path, port: int) -> None:
        folder = self.place.valkey
        settings = [
            f"bind {HOST}",
            f"port {port}",
            f"requirepass {self.password()}",
            f'dir "{quoted(folder)}"',
            f'logfile "{quoted(self.log)}"',
            f"databases {DATABASES}",
            "daemonize yes",
            "appendonly no",
            'save ""',
        ]
        configuration = folder / "valkey.conf"
        configuration.touch(mode=0o600)
        configuration.write_text("\n".join(["# Written anew at each start.", *settings, ""]))
        self.log.unlink(missing_ok=True)
        done = run([program, configuration])
        if done.returncode:
            raise ServerProblem(f"Valkey did not start: {last_line(done.stdout + done.stderr)}")
        # Last, and at once: whoever reads it sees the old port or the new one.
        unfinished = folder / "port.unfinished"
        unfinished.write_text(f"{port}\n")
        unfinished.replace(folder / "port")

    def comes_up(self) -> bool:
        """Wait until the server answers, or is gone because its port was taken."""
        give_up = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < give_up:
            if self.is_ready():
                return True
            if "Failed listening" in self.log_text():
                return False
            time.sleep(0.01)
        return False

    def log_text(self) -> str:
        with suppress(OSError):
            return self.log.read_text(errors="replace")
        return ""


def quoted(path: Path) -> str:
    """`path` as it stands between double quotes in the configuration."""
    return str(path).replace("\\", "\\\\").replace('"', '\\"')


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
