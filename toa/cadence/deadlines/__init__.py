"""Deadlines: found in the rows themselves, run instance by instance, in order with events."""
