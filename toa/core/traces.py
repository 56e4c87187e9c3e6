"""Exceptions as text that a database can keep, whatever stands in them."""

from __future__ import annotations

import traceback

LONGEST_SENTENCE = 1_000
"""Characters."""
LONGEST_TRACE = 20_000
"""Characters; of a longer one the end is kept, which says more."""


def sentence(error: BaseException) -> str:
    """The exception in one line, cut short."""
    return f"{type(error).__name__}: {words(error)}".splitlines()[0][:LONGEST_SENTENCE]


def words(error: BaseException) -> str:
    """What the exception says, whole."""
    try:
        return keepable(str(error))
    except Exception:  # user code as well
        return "(its __str__ raises)"


def trace(error: BaseException) -> str:
    """The exception's traceback."""
    return keepable("".join(traceback.format_exception(error))[-LONGEST_TRACE:])


def keepable(text: str) -> str:
    """The text without what PostgreSQL cannot store: NUL, and halves of surrogate pairs."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
