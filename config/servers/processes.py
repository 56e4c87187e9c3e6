"""The processes of a server, known by their name and the folder they work in.

A number in a file proves nothing: after a crash or a restart of the machine it may be anybody's.
Both servers make their data folder their working folder, and no two share one.
"""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .problem import ServerProblem

if TYPE_CHECKING:
    import psutil

# A process that was killed is gone at once, unless the kernel waits for a disk on its behalf.
KILLED_WITHIN_S = 10.0


def working_in(folder: Path, name: str) -> list[psutil.Process]:
    """The living processes called `name` that work in `folder`, oldest first.

    One whose folder was deleted, and perhaps replaced, while it ran is among them.
    """
    # Loaded where a server is started or stopped, not by everybody who finds it running.
    import psutil

    found = []
    for process in psutil.process_iter(["name", "create_time"]):
        if process.info["name"] != name:
            continue
        # Gone meanwhile, dead but not yet collected by its parent, or another user's.
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            if process.cwd() == str(folder):
                found.append(process)
    return sorted(found, key=lambda process: process.info["create_time"])


def end(folder: Path, name: str, *, politely: signal.Signals, patience_s: float) -> None:
    """End every process called `name` in `folder`: `politely`, then, after `patience_s`, without asking.

    Raises:
        ServerProblem: one of them outlives even that.
    """
    import psutil

    asked: set[int] = set()
    begun = time.monotonic()
    while processes := working_in(folder, name):
        elapsed = time.monotonic() - begun
        if elapsed > patience_s + KILLED_WITHIN_S:
            raise ServerProblem(f"Process {processes[0].pid} ({name} in {folder}) cannot be ended.")
        late = elapsed > patience_s
        ours = {process.pid for process in processes}
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                # Children leave with their parent, which must not take them for crashed.
                if late:
                    process.kill()
                elif process.pid not in asked and process.ppid() not in ours:
                    asked.add(process.pid)
                    process.send_signal(politely)
        time.sleep(0.02)
