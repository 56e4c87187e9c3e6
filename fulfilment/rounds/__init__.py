"""Rounds over lists that are too long for one pulse: how far each has come."""
