"""What a schedule owes at a moment: which occurrences are called, which are recorded as dropped, and what is next.

Pure, and constant in time: whatever was missed, a second's worth or a year's, is found by jumps.
"""

from __future__ import annotations

from dataclasses import dataclass

from toa.core.duration import DAY_MS, SECOND_MS
from toa.core.identity import digest
from toa.core.recurrence import Missed, Schedule

GRACE_MS = 30 * SECOND_MS
"""How late an occurrence may be found, at most, and still count as on time rather than missed; in ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a schedule does about lateness. Durations are ms."""

    overdue_ms: int | None = None
    """Occurrences later than this are dropped; null: however late."""
    catch_up: str = "once"
    """`once`, `none` or `each`."""
    each_max: int = 100
    each_window_ms: int = DAY_MS
    jitter_ms: int = 0
    seed: str = ""
    """What jitter is computed from, beside the occurrence: the same moment for the same schedule, everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """One call to be made. Moments are epoch ms."""

    at: int
    """The occurrence it is made for."""
    last: int
    """The last occurrence it stands for."""
    missed: int
    """How many occurrences from `at` to `last` were missed; 0 for one that is on time."""
    planned: int
    """`at` with its jitter: the moment that lateness counts from."""
    planned_last: int

    @property
    def jitter(self) -> int:
        return self.planned - self.at


@dataclass(frozen=True, slots=True, kw_only=True)
class Owing:
    """What is owed, and where the calendar goes on."""

    calls: tuple[Owed, ...] = ()
    """Oldest first; more than one only where each missed occurrence is made up."""
    making_up: bool = False
    """Whether the calls make up for what was missed, rather than being on time."""
    expired: Missed | None = None
    """Beyond `overdue`."""
    missed: Missed | None = None
    """Not made up, by `catch_up`."""
    cursor: int
    """The last occurrence dealt with; it never moves back."""
    due: int | None
    """The next occurrence; null past the year 9900."""
    wake: int | None
    """The same with its jitter."""


def jittered(calendar: Schedule, policy: Policy, at: int) -> int:
    """An occurrence's moment with jitter: the same for each computation, and always before the next occurrence."""
    if not policy.jitter_ms:
        return at
    following = calendar.next_after(at)
    room = policy.jitter_ms if following is None else min(policy.jitter_ms, following - at)
    return at + int(digest(policy.seed, at)[:12], 16) % room


def owing(calendar: Schedule, policy: Policy, *, after: int, now: int, on_time_ms: int) -> Owing:
    """What is owed at `now` of the occurrences strictly after `after`, both epoch ms.

    `on_time_ms` is how late a call is when nobody would call it late; `overdue` counts from there.
    """
    until = _until(calendar, policy, after, now)
    span = calendar.missed(after, until)
    due = calendar.next_after(max(after, until))
    wake = None if due is None else jittered(calendar, policy, due)
    if span is None:
        return Owing(cursor=after, due=due, wake=wake)
    expired = None
    if policy.overdue_ms is not None:
        too_old = now - policy.overdue_ms - on_time_ms - policy.jitter_ms - 1
        expired = calendar.missed(after, min(too_old, until))
        after = max(after, too_old)
    left = calendar.missed(after, until)
    on_time = _on_time(calendar, policy, span.last, now)
    calls: tuple[Owed, ...] = ()
    missed: Missed | None = None
    if left is not None:
        calls, missed = _choose(calendar, policy, left, after, now, on_time)
    return Owing(
        calls=calls,
        making_up=not (on_time and span.count == 1),
        expired=expired,
        missed=missed,
        cursor=span.last,
        due=due,
        wake=wake,
    )


def _until(calendar: Schedule, policy: Policy, after: int, now: int) -> int:
    """Up to where occurrences are reached: the last one may still wait for the end of its jitter."""
    if policy.jitter_ms:
        last = calendar.previous_before(now + 1)
        if last is not None and last > after and jittered(calendar, policy, last) > now:
            return last - 1
    return now


def _on_time(calendar: Schedule, policy: Policy, at: int, now: int) -> bool:
    following = calendar.next_after(at)
    grace = GRACE_MS if following is None else min((following - at) // 2, GRACE_MS)
    return now - jittered(calendar, policy, at) <= grace


def _choose(
    calendar: Schedule, policy: Policy, left: Missed, after: int, now: int, on_time: bool
) -> tuple[tuple[Owed, ...], Missed | None]:
    """The calls to be made for the occurrences left, and which of these are dropped."""
    if policy.catch_up == "once":
        count = 0 if on_time and left.count == 1 else left.count
        return (_owed(calendar, policy, left.first, left.last, count),), None
    if policy.catch_up == "none":
        chosen = [left.last] if on_time else []
    else:
        since = now - policy.each_window_ms - 1
        if on_time:
            since = min(since, left.last - 1)
        chosen = calendar.latest(max(after, since), left.last, policy.each_max)
    dropped = calendar.missed(after, chosen[0] - 1) if chosen else left
    calls = [_owed(calendar, policy, at, at, 0 if on_time and at == left.last else 1) for at in chosen]
    return tuple(calls), dropped


def _owed(calendar: Schedule, policy: Policy, at: int, last: int, missed: int) -> Owed:
    planned = jittered(calendar, policy, at)
    planned_last = planned if last == at else jittered(calendar, policy, last)
    return Owed(at=at, last=last, missed=missed, planned=planned, planned_last=planned_last)
