"""Calling an operation: lock, run, write, commit."""
