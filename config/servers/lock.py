"""One process at a time starts or stops the servers of a checkout."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .place import Place
from .problem import ServerProblem

# Longer than the longest start: a database that recovers from a crash.
PATIENCE_S = 120.0


@contextmanager
def starting_alone(place: Place, *, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Hold the checkout's lock. The kernel gives it back when its holder dies, however it dies.

    Raises:
        ServerProblem: another process kept the lock for all of `patience_s` seconds.
    """
    place.prepare()
    path = place.data / "lock"
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        give_up = time.monotonic() + patience_s
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > give_up:
                    raise ServerProblem(
                        f"Another process has been starting or stopping the servers for {patience_s:g} s; "
                        f"it holds {path}. Find it with `fuser {path}`, then try again."
                    ) from None
                time.sleep(0.02)
        yield
    finally:
        os.close(handle)
