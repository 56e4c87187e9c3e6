"""What a workflow stands in while it goes on: a deadline, a retry, a watch. They are left in the order of entering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from toa.core.clock import GREATEST
from toa.core.traces import sentence
from toa.exceptions import InvalidMoment
from toa.workflow.asking import Asking, BackOff, EnterRetry, EnterWatch, Occur, Sleep
from toa.workflow.entries import Answer, Entry, Journal


class Expired(BaseException):
    """Thrown where a workflow waits when a deadline around it is over; that deadline's own frame turns it into
    DeadlineExceeded. No `except Exception` stops it on the way."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


@dataclass(slots=True, kw_only=True)
class Progress:
    """Where a run stands while it is driven. Moments are epoch ms."""

    journal: Journal
    watches: dict[str, list[int]]
    """Identity of a watch -> its anchor and its cursor."""
    now: Callable[[], int]
    position: int = 0
    """Of the next step."""
    frames: list[Frame] = field(default_factory=list)

    def name_of(self, asked: Asking) -> str:
        """The name by which a replay recognises a step that is asked for here."""
        if isinstance(asked, EnterWatch):
            return asked.name or f"#{self.position}"
        return asked.watch.identity if isinstance(asked, Occur) else asked.name

    def place(self) -> list[str | int]:
        """Where the next step stands, the same at every replay and at no other step: within a delivery, counted from
        its beginning."""
        place: list[str | int] = []
        base = 0
        for frame in self.frames:
            if isinstance(frame, Watch) and frame.occurrence is not None:
                place.append(f"{frame.identity}@{frame.occurrence}")
                base = frame.place
        return [*place, self.position - base]

    def deadline(self) -> Deadline | None:
        """The deadline around the next step that is over first."""
        standing = [frame for frame in self.frames if isinstance(frame, Deadline) and not frame.spent]
        return min(standing, key=lambda frame: frame.until, default=None)

    def deadline_over(self, now: int, moment: int | None) -> Deadline | None:
        """The deadline that is over; null where the next step is over before it by itself, at `moment`."""
        first = self.deadline()
        if first is None or first.until > now or (moment is not None and moment <= first.until):
            return None
        return first

    def over(self, asked: Asking, now: int) -> int | None:
        """When a step that is asked for now is over by itself; null where no moment says so. Raises InvalidMoment."""
        match asked:
            case Sleep(until=int(until)):
                return until
            case Sleep(for_ms=int(for_ms)):
                if now + for_ms > GREATEST:
                    raise InvalidMoment(f"a sleep of {for_ms} ms from now ends after the year 9999")
                return now + for_ms
            case BackOff():
                return asked.retry.until
            case Occur():
                anchor, cursor = self.watches[asked.watch.identity]
                return asked.rhythm.next_after(cursor, anchor)
            case _:
                return None


@dataclass(slots=True, kw_only=True)
class Frame:
    """Something entered at a place and not left yet."""

    place: int
    progress: Progress

    def leave(self) -> None:
        """It is over, and whatever was entered within it."""
        frames = self.progress.frames
        while frames and frames[-1].place >= self.place:
            frames.pop()


@dataclass(slots=True, kw_only=True)
class Deadline(Frame):
    """Ends at a moment what stands in it, once."""

    until: int
    spent: bool = False


@dataclass(slots=True, kw_only=True)
class Retry(Frame):
    """Tries again what stands in it. Its one row of the journal counts the failures in a row."""

    policy: EnterRetry
    failures: int
    until: int
    """When the next try begins."""

    def failed(self, error: Exception) -> bool:
        """Have another try after a wait; false where there is none left. The steps of the try that failed leave."""
        if self.policy.attempts is not None and self.failures + 1 >= self.policy.attempts:
            return False
        self.failures += 1
        # So far that a moment stays a moment, whatever the factor.
        wait = self.policy.first_ms * self.policy.factor ** min(self.failures - 1, 100)
        self.until = self.progress.now() + round(min(wait, self.policy.cap_ms))
        self._write(sentence(error)[:200])
        self.progress.journal.cut(self.place + 1)
        self.progress.position = self.place + 1
        del self.progress.frames[self.progress.frames.index(self) + 1 :]
        return True

    def succeeded(self) -> None:
        """Something in it went well: failures are counted afresh."""
        if self.failures:
            self.failures, self.until = 0, 0
            self._write("")

    def _write(self, error: str) -> None:
        entry = self.progress.journal.get(self.place)
        assert entry is not None
        value = {"failures": self.failures, "until": self.until, "error": error}
        self.progress.journal.set(self.place, replace(entry, outcome=Answer.MADE, value=value))


@dataclass(slots=True, kw_only=True)
class Watch(Frame):
    """Follows a rhythm. Its cursor belongs to its identity, and outlives what the journal forgets."""

    identity: str
    occurrence: int | None = None
    """The moment of the delivery under way."""

    def begun(self, entry: Entry) -> int:
        """A delivery starts, or goes on after a restart; returns its occurrence."""
        self.occurrence = int(entry.value[0])
        return self.occurrence

    def settled(self) -> None:
        """The delivery is over: the cursor moves to its first start, and the steps of it leave."""
        entry = self.progress.journal.get(self.place + 1)
        assert entry is not None
        self.progress.watches[self.identity][1] = max(entry.value)
        self.progress.journal.cut(self.place + 1)
        self.progress.position = self.place + 1
        self.occurrence = None
        for frame in self.progress.frames:
            if isinstance(frame, Retry):
                frame.succeeded()
