"""Stored calls: found, claimed, fired set by set or alone, run under a lease, settled."""
