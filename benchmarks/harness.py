"""What every benchmark shares: figures, medians over several runs, lateness, work in processes of their own."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import statistics
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import TypeVar

_T = TypeVar("_T")
QUICK = os.environ.get("QUICK") == "1"
RATES = (10, 100, 1_000, 2_000)
"""How many come due in each second where lateness is measured."""
WINDOWS_S = {10: 4, 100: 2, 1_000: 2, 2_000: 2} if QUICK else {10: 30, 100: 15, 1_000: 5, 2_000: 5}
"""And for how many seconds, of each rate."""
CLIENTS = 16
"""Who arm, or defer, at the same time."""
MUCH = 1_000_000 if QUICK else 10_000_000
"""What is pending where the cost of a claim is measured."""
FEW = 10_000
READY_S = 60.0
"""How long clients that are ready wait for the others."""
STEPS = (FEW, 100_000, MUCH) if QUICK else (FEW, 100_000, 1_000_000, MUCH)
"""And on the way there."""
ENOUGH_S = 6.0 if QUICK else 60.0
"""After so many seconds of rounds of one figure no further one is begun: a busy machine makes fewer."""
SLEEPERS = 300
"""Workflows that sleep until the same moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured figure."""

    name: str
    value: float
    unit: str
    least: float | None = None
    """What must be reached, where more is better."""
    most: float | None = None
    """What must not be passed, where less is better."""
    note: str = ""
    plot: str = ""
    """The picture that it is a point of, if any; `line` and `x` say where."""
    line: str = ""
    x: float = 0.0

    @property
    def met(self) -> bool | None:
        """Whether the target is met; null where there is none."""
        if self.least is None and self.most is None:
            return None
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)


def say(figure: Figure) -> None:
    """Print a figure as one line of JSON, for `python -m benchmarks`, which makes the table."""
    print(json.dumps(asdict(figure)), flush=True)


@dataclass(frozen=True, slots=True)
class Taken:
    """How long something took, on the wall and of this process's processor time, in seconds."""

    wall: float
    cpu: float


def timed(act: Callable[[], object]) -> Taken:
    """Do it once."""
    wall, cpu = time.perf_counter(), time.process_time()
    act()
    return Taken(time.perf_counter() - wall, time.process_time() - cpu)


def repeated(act: Callable[[], _T], rounds: int) -> list[_T]:
    """What it returns in each of so many rounds, or in those that were begun before it took enough time."""
    began, made = time.monotonic(), [act()]
    while len(made) < rounds and time.monotonic() - began < ENOUGH_S:
        made.append(act())
    return made


def middle(taken: Iterable[Taken]) -> Taken:
    """The run whose wall time is the median."""
    ordered = sorted(taken, key=lambda one: one.wall)
    return ordered[len(ordered) // 2]


def percentile(values: Iterable[float], share: float) -> float:
    """The value that this share of the values does not pass."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def number_of(rate: int) -> int:
    """How many come due at this rate in its window."""
    return rate * WINDOWS_S[rate]


def spread(first: int, rate: int) -> list[int]:
    """Moments in epoch ms: so many a second, from the first one on, for as long as the rate is measured."""
    return [first + number * 1000 // rate for number in range(number_of(rate))]


class LateError(RuntimeError):
    """What was to come due was armed too late: the machine was too slow for the time that was allowed."""


def in_time(first: float, armed: float) -> None:
    """Raises LateError where what was to come due at `first` was all armed only later; both in epoch ms."""
    if armed > first:
        raise LateError(f"what was to come due was armed {armed - first:,.0f} ms too late")


def patiently(act: Callable[[int], _T]) -> _T:
    """What it returns where one time as long is allowed for arming, or four times, where that was too short."""
    try:
        return act(1)
    except LateError:
        return act(4)


def forked(act: Callable[[], object]) -> int:
    """Have it done in a process of its own; returns its pid. Nothing of this process is tidied up there."""
    if pid := os.fork():
        return pid
    status = 1
    try:
        act()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def at_once(acts: Iterable[Callable[[], object]]) -> None:
    """Have all of it done, each in a process of its own, and wait for the last one."""
    pids = [forked(act) for act in acts]
    try:
        statuses = [os.waitpid(pid, 0)[1] for pid in pids]
    except SystemExit:
        # Asked to end: what they work on is about to be dropped.
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        raise
    assert not any(statuses)


def in_step(act: Callable[[int, Callable[[], object]], object]) -> None:
    """Have it done by as many processes at once as there are clients. Each is told which one it is, and what to call
    when it is ready: that returns when all are. Starting a process and its first connection take longer than much of
    what is measured."""
    ready = multiprocessing.get_context("fork").Barrier(CLIENTS)
    at_once(partial(act, which, partial(ready.wait, READY_S)) for which in range(CLIENTS))


def seconds_each(act: Callable[[], object], number: int) -> float:
    """Seconds for one execution, over `number` of them in a row."""
    began = time.perf_counter()
    for _ in range(number):
        act()
    return (time.perf_counter() - began) / number


def side_by_side(acts: dict[str, Callable[[], object]], *, number: int, rounds: int) -> dict[str, float]:
    """The median of each action's seconds over rounds in which they take turns, so that all meet the same machine."""
    for act in acts.values():
        seconds_each(act, max(1, number // 10))
    taken = repeated(lambda: {name: seconds_each(act, number) for name, act in acts.items()}, rounds)
    return {name: statistics.median(one[name] for one in taken) for name in acts}


def lateness(
    who: str,
    rate: int,
    late: Iterable[float],
    *,
    label: str = "{who}: lateness {share}, {rate}",
    line: str = "",
    most: Sequence[float | None] = (None, None),
) -> None:
    """Say the median and the 99th percentile of how late calls began, in ms."""
    values = list(late)
    for share, limit in zip((0.5, 0.99), most, strict=True):
        named = label.format(who=who, share=f"p{share * 100:.0f}", rate=f"{rate:,} a second")
        plot = "lateness" if share == 0.99 else ""
        value = percentile(values, share)
        note = f"of {len(values):,}"
        say(Figure(name=named, value=value, unit="ms", most=limit, note=note, plot=plot, line=line or who, x=rate))
