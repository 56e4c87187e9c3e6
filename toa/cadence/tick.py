"""The message that asks for a pass."""

from __future__ import annotations

TICK = "toa.tick"
"""Name of the task."""
TICK_EXPIRES_S = 30
"""A tick that waited longer, in seconds, is dropped: a later one does its work."""
AHEAD_MS = 5
"""How long before its moment a tick is sent for what is known to come due then: about as long as it is on its way. Who
takes it waits for the moment."""
TICK_LEAST_MS = 6
"""Ticks for work that came due since the last one are at least this far apart: more often costs more, and makes nothing
sooner, as passes would wait for one another."""
