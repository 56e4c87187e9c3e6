"""Chaos: the shop against an outside that misbehaves in every way, with killed workers, and the proof afterwards."""
