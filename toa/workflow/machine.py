"""The step loop: drives the function of a workflow from its journal, and on from there.

It knows no database. What was done is given to the function again; beyond that it stops at whatever somebody else has
to do (a call), to write first (the start of a delivery), or to wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from toa.core.identity import digest
from toa.core.record import as_record
from toa.exceptions import Cancelled, InvalidMoment, Nondeterministic, OperationFault
from toa.workflow.asking import Asking, BackOff, Calling, EnterDeadline, EnterRetry, EnterWatch, Now, Occur, Sleep
from toa.workflow.entries import MOST_STEPS, Answer, Entry, Journal
from toa.workflow.frames import Deadline, Expired, Frame, Progress, Retry, Watch
from toa.workflow.function import Function
from toa.workflow.pauses import Broken, Ended, Pause, Perform, Wait, Write

CLEANUP_MS = 60_000
"""How long a function that was told of its end may wait for anything."""
MOST_TIDIED = 100
"""How many steps it may still make."""

_ENDLESS = "that is the most a journal holds; what goes on for ever stands in time.watch or retry.forever"
_HINT = "put the function back, let the runs that stand here end first, or give the new path a name of its own"


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
        self.replaying = bool(len(memory.journal))
        """Whether the step under way was done before."""
        self.withdrawn = False
        """Whether the call that the run waited for is not waited for any more."""
        self._memory = memory
        self._waits_for = memory.waits
        self._now = now
        self._last = memory.due
        self._function: Function | None = None
        self._ids = 0
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
        self._ids += 1
        return digest(self._memory.key, *self.progress.place(), self._ids)

    # -- driving --------------------------------------------------------------------------------------------

    def begin(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Drive this one."""
        self._function = Function(coroutine)

    def close(self) -> None:
        """Give the function up where it stands, in memory."""
        self.replaying = True
        if self._function is not None:
            self._function.close()

    def advance(self) -> Pause:
        """Go on to the next pause. Raises Nondeterministic where the function and its journal part."""
        function = self._running
        while True:
            pause: Pause | None
            if function.asked is None:
                pause = function.resume(self._knows)
                if pause is not None:
                    self._check_end(pause)
            else:
                pause = self._take(function.asked)
            if pause is not None:
                return pause

    def record(self, outcome: Answer, value: Any) -> None:
        """The answer to what the pause asked to be done."""
        assert self._running.asked is not None
        self._enter(self._running.asked, outcome, value)

    def waiting(self, until: int | None, **known: Any) -> Wait:
        """The wait of a step under way that is left to somebody else, or to a later try; `known` is kept with it."""
        assert self._running.asked is not None
        return self._wait(self._running.asked, until, **known)

    @property
    def _running(self) -> Function:
        assert self._function is not None
        return self._function

    # -- what was done before -------------------------------------------------------------------------------

    def _knows(self, asked: Asking) -> bool:
        """Whether the journal has the step, which is answered then."""
        entry = self.journal.get(self.progress.position)
        if entry is None:
            return False
        self._same(asked, entry.kind, entry.name)
        self._again(asked, entry)
        return True

    def _again(self, asked: Asking, entry: Entry) -> None:
        """Give the function what a step gave."""
        function, progress = self._running, self.progress
        place = progress.position
        progress.position += 1
        self._last = max(self._last, entry.at)
        self._ids = 0
        self._tidied += function.cancelled
        if entry.outcome is Answer.CANCELLED:
            function.cancelled, self._told_at = True, entry.at
            function.throw(Cancelled())
            return
        if entry.outcome is Answer.EXPIRED:
            for frame in progress.frames:
                if isinstance(frame, Deadline) and frame.place == entry.value:
                    frame.spent = True
            function.throw(Expired(entry.value))
            return
        match asked:
            case Calling() if entry.outcome is Answer.MADE:
                function.answer(as_record(entry.value))
            case EnterDeadline():
                self._entered(Deadline(place=place, progress=progress, until=entry.value))
            case EnterRetry():
                failures, until = entry.value["failures"], entry.value["until"]
                self._entered(Retry(place=place, progress=progress, policy=asked, failures=failures, until=until))
            case EnterWatch():
                self._entered(Watch(place=place, progress=progress, identity=entry.name))
            case Occur():
                function.answer(asked.watch.begun(entry))
            case _:
                try:
                    function.answer(entry.given())
                except Exception as error:
                    function.throw(error, place)

    def _entered(self, frame: Frame) -> None:
        self.progress.frames.append(frame)
        self._running.answer(frame)

    def _same(self, asked: Asking, kind: str, name: str) -> None:
        asks = self.progress.name_of(asked)
        if asked.kind != kind or asks != name:
            raise Nondeterministic(
                f"step {self.progress.position} was {_shown(kind, name)} when it was done,"
                f" and the function asks for {_shown(asked.kind, asks)}",
                hint=_HINT,
            )

    def _check_end(self, end: Ended | Broken) -> None:
        """The function is over: its journal has to be, too."""
        ahead = [_shown(entry.kind, entry.name) for place, entry in self.journal.items() if place >= self._position]
        if not ahead and (waits := self._waited_for()) is not None:
            ahead = [_shown(waits["kind"], waits["name"])]
        if ahead:
            error = end.error if isinstance(end, Broken) else None
            what = "ended" if error is None else f"raised {error!r}"
            raise Nondeterministic(
                f"step {self._position} was {ahead[0]}, and now the function {what} there", hint=_HINT
            ) from error

    # -- what was never done --------------------------------------------------------------------------------

    def _take(self, asked: Asking) -> Pause | None:
        """Answer from the journal, or decide what is to be done first."""
        if self._knows(asked):
            return None
        self.replaying = False
        waits = self._waited_for()
        if waits is not None:
            self._same(asked, waits["kind"], waits["name"])
        if len(self.journal) >= MOST_STEPS:
            return Broken(error=OperationFault(f"the run has done {MOST_STEPS} steps", hint=_ENDLESS), step=None)
        now = self.now()
        if self._memory.cancel_at is not None and not self._running.cancelled:
            self._stop(asked, Answer.CANCELLED, None)
            return None
        calls = isinstance(asked, Calling)
        try:
            # A sleep is pinned; a rhythm is that of the present code.
            known = waits.get("until") if waits is not None and isinstance(asked, Sleep | Calling) else None
            moment = self.progress.over(asked, now) if known is None else int(known)
        except InvalidMoment as error:
            return self._running.refuse(error)
        deadline = self.progress.deadline_over(now, None if calls else moment)
        if deadline is not None:
            self._stop(asked, Answer.EXPIRED, deadline.place)
            return None
        pause = self._do(asked, moment, waits, now)
        if self._tidied > MOST_TIDIED or (isinstance(pause, Wait) and self._waited_enough(now)):
            self.withdrawn = self.withdrawn or bool(waits and waits.get("call"))
            self.close()
            return Ended(reply=None, cancelled=True)
        return pause

    def _do(self, asked: Asking, moment: int | None, waits: dict[str, Any] | None, now: int) -> Pause | None:
        if moment is not None and moment > now:
            return self._wait(asked, moment)
        match asked:
            case Now():
                self._enter(asked, Answer.MADE, now)
            case Sleep() | BackOff():
                self._enter(asked, Answer.MADE, None)
            case Occur():
                if moment is None:
                    return self._wait(asked, None)
                self._enter(asked, Answer.MADE, [moment, now])
                return Write()
            case EnterDeadline():
                self._enter(asked, Answer.MADE, now + asked.for_ms)
            case EnterRetry():
                self._enter(asked, Answer.MADE, {"failures": 0, "until": 0, "error": ""})
            case EnterWatch():
                self.progress.watches.setdefault(self.progress.name_of(asked), [now, now])
                self._enter(asked, Answer.MADE, None)
            case Calling():
                if waits is not None and "call" in waits:
                    return self._wait(asked, None, call=waits["call"])
                key = digest(self._memory.key, asked.name, asked.told, *self.progress.place())[:40]
                return Perform(calling=asked, position=self._position, key=key)
        return None

    def _enter(self, asked: Asking, outcome: Answer, value: Any) -> None:
        """Write down a step that was done now, for the function to be given it."""
        self._waits_for = None
        name = self.progress.name_of(asked)
        self.journal.set(self._position, Entry(kind=asked.kind, name=name, outcome=outcome, value=value, at=self._last))

    def _stop(self, asked: Asking, why: Answer, place: int | None) -> None:
        """End the wait of a step for another reason than its own."""
        waits = self._waited_for()
        self.withdrawn = self.withdrawn or bool(waits and waits.get("call"))
        self._enter(asked, why, place)

    # -- waiting --------------------------------------------------------------------------------------------

    @property
    def _position(self) -> int:
        return self.progress.position

    def _wait(self, asked: Asking, until: int | None, **known: Any) -> Wait:
        """Until a moment, or what comes before it."""
        waits = {"position": self._position, "kind": asked.kind, "name": self.progress.name_of(asked), **known}
        deadline = self.progress.deadline()
        limit = None if self._told_at is None else self._told_at + CLEANUP_MS
        moments = [until, None if deadline is None else deadline.until, limit]
        return Wait(
            until=min((moment for moment in moments if moment is not None), default=None),
            waits=waits if until is None else waits | {"until": until},
        )

    def _waited_enough(self, now: int) -> bool:
        return self._told_at is not None and now >= self._told_at + CLEANUP_MS

    def _waited_for(self) -> dict[str, Any] | None:
        """What the run waited for, where this is the step."""
        waits = self._waits_for
        here = waits is not None and waits["position"] == self._position
        return waits if here and self.journal.get(self._position) is None else None


def _shown(kind: str, name: str) -> str:
    return repr(f"{kind} {name}".strip())
