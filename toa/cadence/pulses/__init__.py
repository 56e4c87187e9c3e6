"""Pulses: calls on a fixed grid, declared sweeps, and the timers of every process."""
