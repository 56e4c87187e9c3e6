"""Whether this process serves: a worker, or `toa run`, that fires for everybody and may die or be frozen doing so.

Tests and single commands do not serve. They look at everything due without a watermark and keep no docket.
"""

from __future__ import annotations

import gc

_serving = False
_looking = False


def serve() -> None:
    """From now on this process serves. Called once, where a worker process starts."""
    global _serving
    _serving = True


def serves() -> bool:
    """Whether `serve` was called in this process."""
    return _serving


def look() -> None:
    """From now on this process looks at what is due for everybody: a beat, which fires nothing itself."""
    global _looking
    _looking = True


def looks() -> bool:
    """Whether this process looks for everybody, whether it fires too or not."""
    return _looking or _serving


def settle() -> None:
    """Take what is loaded by now out of the sight of Python's garbage collector. Called once, where a process that
    serves or looks starts.

    A full collection walks over all of Django and Celery, and stops the process for a tenth of a second, in the midst
    of whatever is due.
    """
    gc.collect()
    gc.freeze()
