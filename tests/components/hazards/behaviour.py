"""What an operation of this component does to the process that runs it."""

import os
import signal
import threading
import time

SEEN = []
"""The thread and the call of each run in this process."""


class Mute(Exception):
    """Cannot even be told."""

    def __str__(self):
        raise RuntimeError("no words")


def behave(mode, key):
    SEEN.append((threading.get_ident(), key))
    match mode:
        case "raise":
            raise ValueError("poison")
        case "unkeepable":
            raise ValueError("half a pair \ud800, and a NUL \0")
        case "mute":
            raise Mute
        case "slow":
            began = time.perf_counter()
            while time.perf_counter() - began < 0.005:
                pass
        case "hang":
            while True:
                pass
        case "exit":
            os._exit(1)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "freeze":
            os.kill(os.getpid(), signal.SIGSTOP)
        case "memory":
            eaten = []
            while True:
                eaten.append(bytearray(1 << 24))
