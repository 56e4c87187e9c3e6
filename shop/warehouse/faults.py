"""How the outside misbehaves: which request meets which fault, how often each was met.

What a request meets depends on the seed, on its kind and on how many of its kind came before: the same run meets the
same faults, whatever the threads do.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from random import Random
from typing import Any


class Fault(StrEnum):
    """One way to misbehave."""

    INTERNAL = "500"
    UNAVAILABLE = "503"
    BUSY = "429"
    RESET = "reset"
    """The connection is reset before anything was done."""

    SILENT = "silent"
    """No answer comes."""
    DRIP = "drip"
    """An answer comes, a byte at a time."""
    DRIP_HEAD = "drip-head"
    """The same, and not even its headers come to an end."""

    ABSURD = "absurd"
    """A value out of its range: a negative figure, an unknown status, an empty reference."""
    TYPE = "type"
    """A value of the wrong type."""
    HALF = "half"
    """Half a document, sent as if it were whole."""
    CUT = "cut"
    """A document whose connection ends in its middle."""
    HTML = "html"
    """A page for people, with status 200."""
    CHARSET = "charset"
    """Text that is not in the charset it claims."""
    HUGE = "huge"
    """A document of 200 MB, in pieces, whose size is not said beforehand."""
    PACKED = "packed"
    """A document that nobody asked to be compressed, a thousand times its size when it is unpacked."""
    REDIRECT = "redirect"
    """Go and ask elsewhere."""

    LOST = "lost"
    """It was done, and the connection was cut before the answer."""


FAMILIES: Mapping[str, tuple[Fault, ...]] = {
    "fail": (Fault.INTERNAL, Fault.UNAVAILABLE, Fault.BUSY, Fault.RESET),
    "hang": (Fault.SILENT, Fault.DRIP, Fault.DRIP_HEAD),
    "lie": (
        Fault.ABSURD,
        Fault.TYPE,
        Fault.HALF,
        Fault.CUT,
        Fault.HTML,
        Fault.CHARSET,
        Fault.HUGE,
        Fault.PACKED,
        Fault.REDIRECT,
    ),
    "lost": (Fault.LOST,),
}


class UnfitSetting(ValueError):
    """A setting that is unknown, or whose value does not fit. The message says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How often each family of faults is met, as a share from 0 to 1, what the faults are like, what else happens."""

    fail: float = 0.0
    hang: float = 0.0
    lie: float = 0.0
    lost: float = 0.0
    """Only of requests that do something."""
    slow_ms: int = 0
    """Each answer takes up to this long."""
    hang_s: float = 30.0
    """How long no answer comes, until the connection is closed."""
    retry_after_s: int = 1
    """What a 429 and a 503 ask for."""
    drift: float = 0.0
    """Shelves that change by themselves, each second."""
    drifting: str = ""
    """What the names of the shelves begin with that may change by themselves."""

    def __post_init__(self) -> None:
        for name in FAMILIES:
            share = getattr(self, name)
            if not isinstance(share, int | float) or not 0 <= share <= 1:
                raise UnfitSetting(f"{name} should be a share from 0 to 1, not {share!r}")
        for name in ("slow_ms", "hang_s", "retry_after_s", "drift"):
            figure = getattr(self, name)
            if not isinstance(figure, int | float) or not 0 <= figure <= 3_600_000:
                raise UnfitSetting(f"{name} should be a number from 0 on, not {figure!r}")
        if not isinstance(self.drifting, str):
            raise UnfitSetting(f"drifting should be text, not {self.drifting!r}")
        if self.fail + self.hang + self.lie + self.lost > 1:
            raise UnfitSetting("fail, hang, lie and lost together should be at most 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """What one request meets."""

    fault: Fault | None
    delay_s: float
    acts_first: bool
    """Whether a request that hangs was carried out before it hung."""


class Faults:
    """Decides what each request meets, and counts it."""

    def __init__(self, *, seed: int = 0, settings: Settings | None = None) -> None:
        self._seed = seed
        self._settings = settings or Settings()
        self._planned: deque[Fault | None] = deque()
        self._asked: Counter[str] = Counter()
        self._met: Counter[Fault] = Counter()
        self._lock = threading.Lock()

    def draw(self, kind: str, *, acts: bool) -> Draw:
        """What the next request of this kind meets; `acts`: whether it does something."""
        with self._lock:
            settings = self._settings
            self._asked[kind] += 1
            # Not Python's own hash, which differs between processes: a text seeds it the same everywhere.
            luck = Random(f"{self._seed}:{kind}:{self._asked[kind]}")
            fault = self._fault(luck.random(), luck, acts)
            if self._planned:
                fault = self._planned.popleft()
            if fault is not None:
                self._met[fault] += 1
            return Draw(fault=fault, delay_s=luck.random() * settings.slow_ms / 1000, acts_first=luck.random() < 0.5)

    def set(self, values: Mapping[str, Any]) -> None:
        """Change settings while it runs; `next`: a list of what the next requests meet, one each, null for nothing.

        Raises UnfitSetting, and then nothing has changed.
        """
        given = dict(values)
        planned = given.pop("next", None)
        unknown = sorted(set(given) - set(Settings.__dataclass_fields__))
        if unknown:
            raise UnfitSetting(f"there is no setting {unknown[0]!r}")
        if planned is not None and not (isinstance(planned, list) and all(name in [*Fault, None] for name in planned)):
            raise UnfitSetting(f"next should be a list of null and {', '.join(Fault)}")
        with self._lock:
            self._settings = replace(self._settings, **given)
            if planned is not None:
                self._planned = deque(None if name is None else Fault(name) for name in planned)

    @property
    def settings(self) -> Settings:
        """As they are now."""
        with self._lock:
            return self._settings

    def whole(self) -> dict[str, Any]:
        """Settings and counts, as JSON."""
        with self._lock:
            met = {fault.value: self._met[fault] for fault in Fault}
            return {**asdict(self._settings), "next": list(self._planned), "met": met, "asked": dict(self._asked)}

    def _fault(self, luck: float, which: Random, acts: bool) -> Fault | None:
        for name, faults in FAMILIES.items():
            share = getattr(self._settings, name)
            if luck < share:
                return which.choice(faults) if acts or name != "lost" else None
            luck -= share
        return None
