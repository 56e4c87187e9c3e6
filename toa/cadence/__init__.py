"""Time: what is due, claiming it, firing it, settling it; and what operators do about it."""
