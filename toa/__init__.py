"""toa: work on the clock for Django, kept as state in PostgreSQL."""
