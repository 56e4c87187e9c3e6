"""Schedules: calendar occurrences that become stored calls."""
