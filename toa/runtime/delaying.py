"""`toa.delay` and `toa.send`: storing, cancelling and moving calls outside transitions, with an exact answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import OperationalError, connections, transaction
from psycopg import errors

from toa.core.calling import Armed, Call, Lease, fresh
from toa.core.clock import to_datetime, to_moment
from toa.exceptions import Conflict, NotFound
from toa.models import Delay, History, Outcome
from toa.runtime import arming, clock, settings, waking
from toa.runtime.context import delay_id
from toa.runtime.journal import write_history
from toa.runtime.sending import together
from toa.runtime.withdrawing import Row, taken
from toa.runtime.writing import check_lease

PATIENCE = "5s"
"""Longest wait of a cancel or a move for a call that is being made at that moment."""

MOVED = "moved"
CANCELLED = "cancelled"
BEING_MADE = "being made"
ANSWERS: Mapping[str, str] = {
    Outcome.MADE: "already made",
    Outcome.CANCELLED: "already cancelled",
    Outcome.EXPIRED: "expired",
    Outcome.REFUSED: "refused",
    Outcome.FAILED: "failed",
    Outcome.REPLACED: "replaced",
}
"""What a cancel or a move answers about a call that is settled."""


@dataclass(frozen=True, slots=True)
class Delays:
    """Stored calls, on behalf of one call: an effect's, or that of plain code."""

    _call: Call

    def __call__(
        self,
        endpoint: str,
        request: Mapping[str, Any] | None = None,
        *,
        overdue: int | None,
        interval: int | str | None = None,
        at: int | None = None,
        key: str | None = None,
        unchained: bool = False,
    ) -> str:
        """Store a call to be made later, in the caller's transaction; returns its id.

        `interval` (ms, or text such as "1h") or `at` (epoch ms). `overdue` has no default: how many ms late the call
        may still begin, null for however late. `key` names it: arming again under that name replaces it.
        """
        options = {"interval": interval, "at": at, "overdue": overdue, "key": key, "unchained": unchained}
        return self._store(arming.armed(self._call, _now(), endpoint, request, **options))  # type: ignore[arg-type]

    def send(self, endpoint: str, request: Mapping[str, Any] | None = None) -> str:
        """Store a call that is due at once, in the caller's transaction; returns its id."""
        return self._store(arming.armed(self._call, _now(), endpoint, request, interval=0, source="send"))

    def cancel(self, identity: str) -> str:
        """Take a stored call back. Once this answered `cancelled`, the call never begins.

        Else the answer is `being made` (an effect runs: it keeps running, nothing it asks for counts any more, and
        there is no further attempt), `already made`, `already cancelled`, `expired`, `refused`, `failed` or
        `replaced`. Raises NotFound for an id that was never issued or is past the retention of the history, Conflict
        where the call was held for five seconds.
        """
        return cancel(delay_id(identity), lease=self._call.lease)

    def move(self, identity: str, *, interval: int | str | None = None, at: int | None = None) -> str:
        """Give a stored call another moment; answers `moved`, or why not, as `cancel` does."""
        return move(delay_id(identity), arming.due_moment(_now(), interval, at), lease=self._call.lease)

    def _store(self, one: Armed) -> str:
        now = _now()
        if one.name is None and self._call.lease is None and connections[settings.alias()].get_autocommit():
            arming.store([one], self._call, "", now)  # one statement, which is a transaction by itself
            return one.id.hex
        with transaction.atomic(using=settings.alias()):
            with together():
                if one.name is not None:
                    arming.exclusive(one.name)
                arming.store([one], self._call, "", now)
            if self._call.lease is not None:
                check_lease(self._call.lease)
        return one.id.hex


delay = Delays(fresh(""))
"""`toa.delay(…)`, `toa.delay.cancel(id)`, `toa.delay.move(id, …)`."""

send = delay.send
"""`toa.send(endpoint, request)`."""


def _now() -> int:
    return clock.clock().now()


def cancel(identity: UUID, *, by: str = "", lease: Lease | None = None) -> str:
    """Take a stored call back; see `Delays.cancel`.

    `by` names an operator for the history; `lease` is that of the effect which asks, and is checked last.
    """
    return _decide(identity, lambda row: _cancelled(row, by), lease)


def move(identity: UUID, moment: int, *, by: str = "", lease: Lease | None = None) -> str:
    """Give a stored call another moment, epoch ms; see `Delays.move`, and `cancel` here for the rest."""
    return _decide(identity, lambda row: _moved(row, moment, by), lease)


def _decide(identity: UUID, decide: Callable[[Delay], str], lease: Lease | None) -> str:
    """Decide a call whose row is there, under its lock; else tell what became of it."""
    try:
        with transaction.atomic(using=settings.alias()):
            with connections[settings.alias()].cursor() as cursor:
                cursor.execute("SELECT set_config('lock_timeout', %s, true)", [PATIENCE])
            row = Delay.objects.using(settings.alias()).select_for_update().filter(id=identity).first()
            answer = _settled(identity) if row is None else decide(row)
            with connections[settings.alias()].cursor() as cursor:
                # A caller's transaction goes on after this; what it waits for is its own affair.
                cursor.execute("SET LOCAL lock_timeout TO DEFAULT")
            if lease is not None:
                check_lease(lease)
        return answer
    except OperationalError as error:
        if isinstance(error.__cause__, errors.LockNotAvailable):
            raise Conflict(f"the call {identity.hex} was held for {PATIENCE}; ask again") from error
        raise


def _moved(row: Delay, moment: int, by: str) -> str:
    if row.token is not None:
        return BEING_MADE
    now = _now()
    row.due_at = to_datetime(moment)
    row.wake_at = to_datetime(max(moment, now))
    row.attempt, row.error = 0, ""
    if by:
        row.cause = {**(row.cause or {}), "moved_by": by}
    row.save(update_fields=["due_at", "wake_at", "attempt", "error", "cause"])
    waking.after_commit(row.wake_at, to_datetime(now))
    return MOVED


def _cancelled(row: Delay, by: str) -> str:
    running = row.token is not None
    gone = Row(row.id, row.source, row.endpoint, to_moment(row.due_at), row.attempt, row.cause, row.entity)
    row.delete()
    why = ", ".join(part for part in ("while it was being made" if running else "", f"by {by}" if by else "") if part)
    write_history([taken(gone, Outcome.CANCELLED, _now(), why)])
    return BEING_MADE if running else CANCELLED


def _settled(identity: UUID) -> str:
    """What became of a call whose row is gone."""
    line = History.objects.using(settings.alias()).filter(call=identity).order_by("-at", "-id").first()
    if line is None:
        raise NotFound(f"no stored call {identity.hex} is known; it was never issued, or its history is pruned")
    return ANSWERS.get(line.outcome, line.outcome)
