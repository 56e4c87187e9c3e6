"""The message that asks for a pass."""

from __future__ import annotations

TICK = "toa.tick"
"""Name of the task."""
TICK_EXPIRES_S = 30
"""A tick that waited longer, in seconds, is dropped: a later one does its work."""
