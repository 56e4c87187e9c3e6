"""The nearest known name to one that is unknown, for hints."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name closest to `name`, or None where none is close. Case is ignored first, then spelling."""
    names = list(known)
    folded = {candidate.casefold(): candidate for candidate in reversed(names)}
    # The comparison is quadratic in the length; a name longer than any known one is cut.
    close = get_close_matches(name[:128].casefold(), list(folded), n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint: the nearest known name, or all of them where none is close and they are few."""
    names = list(known)
    found = nearest(name, names)
    if found is not None:
        return f"did you mean '{found}'?"
    return f"there is {', '.join(names)}" if 0 < len(names) <= 12 else ""
