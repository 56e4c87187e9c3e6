"""Distances in time as people read them: `in 2 min`, `3.2 s late`. Milliseconds in, text with its unit out."""

from __future__ import annotations

from toa.core.duration import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS

_PAIRS = ((DAY_MS, "d", HOUR_MS, "h"), (HOUR_MS, "h", MINUTE_MS, "min"), (MINUTE_MS, "min", SECOND_MS, "s"))


def span(milliseconds: int) -> str:
    """A length of time in its one or two largest units, what is smaller cut off: `812 ms`, `3.2 s`, `2 h 5 min`.

    For eyes; `toa.core.duration.format_duration` gives every digit. A negative length has a leading minus sign.
    """
    if milliseconds < 0:
        return f"-{span(-milliseconds)}"
    for size, unit, smaller, smaller_unit in _PAIRS:
        if milliseconds >= size:
            count, rest = divmod(milliseconds, size)
            return f"{count} {unit} {rest // smaller} {smaller_unit}" if rest >= smaller else f"{count} {unit}"
    if milliseconds < SECOND_MS:
        return f"{milliseconds} ms"
    tenths = milliseconds * 10 // SECOND_MS
    return f"{tenths // 10} s" if tenths >= 100 or tenths % 10 == 0 else f"{tenths // 10}.{tenths % 10} s"


def relative(moment: int, now: int, past: str = "ago") -> str:
    """Where a moment stands to now, both in epoch ms: `in 2 min`, `now`, or, with the word for the past, `3 s ago`."""
    if moment == now:
        return "now"
    return f"in {span(moment - now)}" if moment > now else f"{span(now - moment)} {past}"
