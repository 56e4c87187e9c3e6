"""The step loop: drives the function of a workflow from its journal, and on from there.

It knows no database. What was done is given to the function again; beyond that it stops at whatever somebody else has
to do (a call), to write first (the start of a delivery), or to wait for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from toa.core.allowance import drawing
from toa.core.clock import GREATEST
from toa.core.error import Error
from toa.core.identity import digest
from toa.core.purity import watched
from toa.core.record import as_record
from toa.exceptions import Cancelled, InvalidMoment, Nondeterministic, NotAllowedHere, OperationFault
from toa.workflow.asking import (
    Asking,
    BackOff,
    Calling,
    EnterDeadline,
    EnterRetry,
    EnterWatch,
    Now,
    Occur,
    Sleep,
)
from toa.workflow.entries import MOST_STEPS, Answer, Entry, Journal
from toa.workflow.frames import Deadline, Expired, Frame, Progress, Retry, Watch

CLEANUP_MS = 60_000
"""How long a function that was told of its end may wait for anything."""
MOST_TIDIED = 100
"""How many steps it may still make."""
MOST_REFUSED = 100
"""How often a function may go on after it was refused something, before that is its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Nothing is to be done before `until` (epoch ms; null: before somebody else says so). `waits` is what the run is
    recognised by when it goes on."""

    until: int | None
    waits: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Perform:
    """An operation is to be called, under this key."""

    calling: Calling
    position: int
    key: str


@dataclass(frozen=True, slots=True)
class Write:
    """What was decided has to be durable before the function goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The function returned, or raised an Error; or its end was asked for, and it ended."""

    reply: Any
    cancelled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The function raised. `step` is the position of the step that this goes back to, where it does."""

    error: BaseException
    step: int | None


Pause: TypeAlias = Wait | Perform | Write | Ended | Broken


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is known of a run when it goes on. Moments are epoch ms."""

    key: str
    due: int
    journal: Journal
    waits: dict[str, Any] | None
    watches: dict[str, list[int]]
    cancel_at: int | None


class Machine:
    """One run while it is driven. Thrown away where what it decided could not be written."""

    def __init__(self, memory: Memory, now: Callable[[], int]) -> None:
        self.progress = Progress(journal=memory.journal, watches=memory.watches, now=self.now)
        self.journal = memory.journal
        self.cancelling = False
        self.replaying = bool(len(memory.journal))
        """Whether the step under way was done before."""
        self.withdrawn = False
        """Whether the call that the run waited for is not waited for any more."""
        self._memory = memory
        self._waits_for = memory.waits
        self._now = now
        self._last = memory.due
        self._coroutine: Coroutine[Any, Any, Any] | None = None
        self._asked: Asking | None = None
        self._feed: tuple[Any, BaseException | None] = (None, None)
        self._thrown: list[tuple[BaseException, int]] = []
        self._made = 0
        self._refused = 0
        self._told_at: int | None = None
        """When the function was told of its end."""
        self._tidied = 0
        """Steps that it made since then."""

    # -- what the function's context is made of -------------------------------------------------------------

    def now(self) -> int:
        """The present moment, never earlier than one before."""
        self._last = max(self._last, self._now())
        return self._last

    def unique(self) -> str:
        """64 hex digits that no other place of the run gets, and this one at every replay."""
        self._made += 1
        return digest(self._memory.key, *self._place(self.progress.position), self._made)

    # -- driving --------------------------------------------------------------------------------------------

    def begin(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Drive this one."""
        self._coroutine = coroutine

    def close(self) -> None:
        """Give the function up where it stands, in memory. Python runs its `finally` blocks up to their first await,
        which counts for nothing: the journal has not moved."""
        coroutine, self._coroutine = self._coroutine, None
        self.replaying = True
        for _ in range(MOST_REFUSED):
            if coroutine is None or inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED:
                break
            with suppress(Exception):
                coroutine.close()

    def advance(self) -> Pause:
        """Go on to the next pause. Raises Nondeterministic where the function and its journal part."""
        while True:
            pause = self._resume() if self._asked is None else self._take(self._asked)
            if pause is not None:
                return pause

    def record(self, outcome: Answer, value: Any) -> None:
        """The answer to what the pause asked to be done."""
        assert self._asked is not None
        self._enter(self._asked, outcome, value)

    def waiting(self, until: int | None, **known: Any) -> Wait:
        """The wait of a step under way that is left to somebody else, or to a later try; `known` is kept with it."""
        assert self._asked is not None
        return Wait(until=self._first(until), waits=self._waits(self._asked, until) | known)

    # -- the function's side --------------------------------------------------------------------------------

    def _resume(self) -> Pause | None:
        try:
            # All that was done before is one go: setting limits for each step of it would cost more than the step.
            with drawing(), watched():
                asked = self._send()
                while isinstance(asked, Asking) and self._knows(asked):
                    asked = self._send()
        except StopIteration as stop:
            return self._ended(Ended(reply=stop.value, cancelled=self.cancelling))
        except Cancelled as cancelled:
            if self.cancelling:
                return self._ended(Ended(reply=None, cancelled=True))
            return Broken(error=cancelled, step=None)
        except Nondeterministic:
            raise
        except (Exception, Expired) as raised:
            if self.cancelling:
                return self._ended(Ended(reply=None, cancelled=True))
            if isinstance(raised, Error):
                return self._ended(Ended(reply=raised))
            return self._ended(Broken(error=_explained(raised), step=self._step_of(raised)))
        if isinstance(asked, Asking):
            self._asked = asked
            return None
        return self._refuse(_foreign(asked))

    def _send(self) -> Any:
        """Give the function what it waits for; returns what it waits for next."""
        value, error = self._feed
        self._feed = (None, None)
        self._made = 0
        assert self._coroutine is not None
        return self._coroutine.send(value) if error is None else self._coroutine.throw(error)

    def _refuse(self, error: Exception) -> Pause | None:
        """Raise in the function what it will be told again at every replay: nothing is written down."""
        self._refused += 1
        if self._refused > MOST_REFUSED:
            return Broken(error=error, step=None)
        self._answer(error=error)
        return None

    def _ended(self, end: Ended | Broken) -> Pause:
        ahead = self._ahead()
        if ahead is not None:
            what = "raised " + repr(end.error) if isinstance(end, Broken) else "ended"
            raise Nondeterministic(
                f"step {self.progress.position} was {ahead}, and now the function {what} there", hint=_HINT
            ) from (end.error if isinstance(end, Broken) else None)
        return end

    def _step_of(self, error: BaseException) -> int | None:
        """The step whose exception this is, or was raised over."""
        seen: BaseException | None = error
        while seen is not None:
            for thrown, position in self._thrown:
                if thrown is seen:
                    return position
            seen = seen.__cause__ or seen.__context__
        return None

    def _answer(self, value: Any = None, error: BaseException | None = None) -> None:
        self._asked = None
        self._feed = (value, error)

    # -- the journal's side ---------------------------------------------------------------------------------

    def _take(self, asked: Asking) -> Pause | None:
        """Answer from the journal, or decide what is to be done first."""
        if self._knows(asked):
            return None
        self.replaying = False
        waits = self._waited_for()
        if waits is not None:
            self._same(asked, waits["kind"], waits["name"])
        if len(self.journal) >= MOST_STEPS:
            return Broken(
                error=OperationFault(
                    f"the run has done {MOST_STEPS} steps, the most that a journal holds",
                    hint="what goes on for ever stands in time.watch or retry.forever",
                ),
                step=None,
            )
        now = self.now()
        if self._memory.cancel_at is not None and not self.cancelling:
            self._stop(asked, Answer.CANCELLED, None)
            return None
        try:
            moment = self._moment(asked, waits, now)
        except InvalidMoment as error:
            return self._refuse(error)
        over = self._over(now, None if isinstance(asked, Calling) else moment)
        if over is not None:
            self._stop(asked, Answer.EXPIRED, over.place)
            return None
        pause = self._do(asked, moment, waits, now)
        if self._told_at is not None and (
            self._tidied > MOST_TIDIED or (isinstance(pause, Wait) and now >= self._told_at + CLEANUP_MS)
        ):
            self.withdrawn = self.withdrawn or bool(waits and waits.get("call"))
            self.close()
            return Ended(reply=None, cancelled=True)
        return pause

    def _knows(self, asked: Asking) -> bool:
        """Whether the journal has the step, which is answered then."""
        entry = self.journal.get(self.progress.position)
        if entry is None:
            return False
        self._same(asked, entry.kind, entry.name)
        self._again(asked, entry)
        return True

    def _do(self, asked: Asking, moment: int | None, waits: dict[str, Any] | None, now: int) -> Pause | None:
        """What was never done."""
        if moment is not None and moment > now:
            return Wait(until=self._first(moment), waits=self._waits(asked, moment))
        match asked:
            case Now():
                self._enter(asked, Answer.MADE, now)
            case Sleep() | BackOff():
                self._enter(asked, Answer.MADE, None)
            case Occur():
                if moment is None:
                    return Wait(until=self._first(None), waits=self._waits(asked, None))
                self._enter(asked, Answer.MADE, [moment, now])
                return Write()
            case EnterDeadline():
                self._enter(asked, Answer.MADE, now + asked.for_ms)
            case EnterRetry():
                self._enter(asked, Answer.MADE, {"failures": 0, "until": 0, "error": ""})
            case EnterWatch():
                self.progress.watches.setdefault(self._name(asked), [now, now])
                self._enter(asked, Answer.MADE, None)
            case Calling():
                if waits is not None and waits.get("call"):
                    return Wait(until=self._first(None), waits=waits)
                position = self.progress.position
                request = [asked.input, asked.query]
                key = digest(self._memory.key, asked.name, request, *self._place(position))[:40]
                return Perform(calling=asked, position=position, key=key)
        return None

    def _enter(self, asked: Asking, outcome: Answer, value: Any) -> None:
        """Write down a step that was done now, for the function to be given it."""
        self._waits_for = None
        entry = Entry(kind=asked.kind, name=self._name(asked), outcome=outcome, value=value, at=self._last)
        self.journal.set(self.progress.position, entry)

    def _again(self, asked: Asking, entry: Entry) -> None:
        """Give the function what a step gave."""
        place = self.progress.position
        self.progress.position += 1
        self._last = max(self._last, entry.at)
        self._tidied += self.cancelling
        if entry.outcome is Answer.CANCELLED:
            self.cancelling, self._told_at = True, entry.at
            self._answer(error=Cancelled())
            return
        if entry.outcome is Answer.EXPIRED:
            for frame in self.progress.frames:
                if isinstance(frame, Deadline) and frame.place == entry.value:
                    frame.spent = True
            self._answer(error=Expired(entry.value))
            return
        match asked:
            case Calling() if entry.outcome is Answer.MADE:
                self._answer(as_record(entry.value))
            case EnterDeadline():
                self._entered(Deadline(place=place, progress=self.progress, until=entry.value))
            case EnterRetry():
                value = entry.value
                self._entered(
                    Retry(
                        place=place,
                        progress=self.progress,
                        policy=asked,
                        failures=value["failures"],
                        until=value["until"],
                    )
                )
            case EnterWatch():
                self._entered(Watch(place=place, progress=self.progress, identity=entry.name))
            case Occur():
                self._answer(asked.watch.begun(entry))
            case _:
                try:
                    self._answer(entry.given())
                except Exception as error:
                    self._thrown.append((error, place))
                    self._answer(error=error)

    def _entered(self, frame: Frame) -> None:
        self.progress.frames.append(frame)
        self._answer(frame)

    def _stop(self, asked: Asking, why: Answer, place: int | None) -> None:
        """End the wait of a step for another reason than its own."""
        waits = self._waited_for()
        self.withdrawn = self.withdrawn or bool(waits and waits.get("call"))
        self._enter(asked, why, place)

    def _same(self, asked: Asking, kind: str, name: str) -> None:
        asks = self._name(asked)
        if asked.kind != kind or asks != name:
            raise Nondeterministic(
                f"step {self.progress.position} was {f'{kind} {name}'.strip()!r} when it was done,"
                f" and the function asks for {f'{asked.kind} {asks}'.strip()!r}",
                hint=_HINT,
            )

    def _ahead(self) -> str | None:
        """What the journal has at or behind the place where the function ended."""
        position = self.progress.position
        for place, entry in self.journal.items():
            if place >= position:
                return repr(str(entry))
        waits = self._waited_for()
        return None if waits is None else repr(f"{waits['kind']} {waits['name']}".strip())

    # -- moments --------------------------------------------------------------------------------------------

    def _moment(self, asked: Asking, waits: dict[str, Any] | None, now: int) -> int | None:
        """When the step is over by itself; null where no moment says so."""
        match asked:
            case Sleep() if waits is not None:
                return int(waits["until"])
            case Sleep(until=int(until)):
                return until
            case Sleep():
                moment = now + (asked.for_ms or 0)
                if moment > GREATEST:
                    raise InvalidMoment(f"a sleep of {asked.for_ms} ms from now ends after the year 9999")
                return moment
            case BackOff():
                return asked.retry.until
            case Occur():
                anchor, cursor = self.progress.watches[asked.watch.identity]
                return asked.rhythm.next_after(cursor, anchor)
            case Calling() if waits is not None and not waits.get("call"):
                return int(waits["until"])
            case _:
                return None

    def _over(self, now: int, moment: int | None) -> Deadline | None:
        """The deadline that is over, before the step is by itself."""
        first = self._deadline()
        if first is None or first.until > now or (moment is not None and moment <= first.until):
            return None
        return first

    def _deadline(self) -> Deadline | None:
        open_ones = [frame for frame in self.progress.frames if isinstance(frame, Deadline) and not frame.spent]
        return min(open_ones, key=lambda frame: frame.until, default=None)

    def _first(self, moment: int | None) -> int | None:
        """The moment, or what comes before it."""
        moments = [moment] if moment is not None else []
        if (deadline := self._deadline()) is not None:
            moments.append(deadline.until)
        if self._told_at is not None:
            moments.append(self._told_at + CLEANUP_MS)
        return min(moments, default=None)

    # -- names and places -----------------------------------------------------------------------------------

    def _name(self, asked: Asking) -> str:
        if isinstance(asked, Calling):
            return asked.name
        if isinstance(asked, EnterWatch):
            return asked.name or f"#{self.progress.position}"
        return asked.watch.identity if isinstance(asked, Occur) else asked.name

    def _place(self, position: int) -> list[str | int]:
        """Where a step stands, the same at every replay and at no other step: within a delivery, counted from it."""
        place: list[str | int] = []
        base = 0
        for frame in self.progress.frames:
            if isinstance(frame, Watch) and frame.occurrence is not None:
                place += [f"{frame.identity}@{frame.occurrence}"]
                base = frame.place
        return [*place, position - base]

    def _waits(self, asked: Asking, until: int | None) -> dict[str, Any]:
        waits = {"position": self.progress.position, "kind": asked.kind, "name": self._name(asked)}
        return waits if until is None else waits | {"until": until}

    def _waited_for(self) -> dict[str, Any] | None:
        """What the run waited for, where this is the step."""
        waits = self._waits_for
        here = waits is not None and waits["position"] == self.progress.position
        return waits if here and self.journal.get(self.progress.position) is None else None


_HINT = "put the function back, let the runs that stand here end first, or give the new path a name of its own"


def _foreign(asked: Any) -> NotAllowedHere:
    return NotAllowedHere(
        f"a workflow awaits {type(asked).__name__}, which cannot be kept over a restart",
        hint="await time.sleep, time.now, context.call; I/O belongs into an effect",
    )


def _explained(error: BaseException) -> BaseException:
    if isinstance(error, RuntimeError) and "no running event loop" in str(error):
        explained = _foreign(error)
        explained.__cause__ = error
        return explained
    return error
