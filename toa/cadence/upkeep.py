"""What processes do beside their passes: the history past its retention leaves, a small step at a time.

Nothing has to be set up for it, and nobody waits for it: a step is one short statement, and whoever is busy with the
same rows is left alone.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator

from django.db import Error, connections

from toa.cadence.actions.pruning import Pruned, history_days, prune
from toa.runtime import settings

logger = logging.getLogger("toa.cadence")

EVERY_S = 600.0
"""How long a process that found nothing more to prune leaves it at that, in seconds."""
PAUSE_S = 1.0
"""The time between two steps, in seconds."""
STEP = 200
"""Rows of one step at most."""


class Upkeep:
    """The upkeep that one process does. `now` tells seconds that only ever go on."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._next = now()
        self._work: Iterator[Pruned] | None = None

    def turn(self) -> None:
        """Make a step where one is due. `TOA["HISTORY_DAYS"]` of 0 keeps everything; an error is left to later."""
        if self._now() < self._next or not settings.get("HISTORY_DAYS"):
            return
        self._next = self._now() + PAUSE_S
        try:
            self._work = self._work or prune(history_days(), STEP)
            done = next(self._work, None)
        except Error as error:
            logger.warning("nothing was pruned: %s", error, extra={"action": "prune_failed"})
            connections[settings.alias()].close_if_unusable_or_obsolete()
            done = None
        if done is None:
            self._work = None
            self._next = self._now() + EVERY_S
        else:
            logger.debug("pruned %d rows of %s", done.rows, done.what, extra={"action": "pruned"})
