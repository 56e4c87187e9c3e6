"""The courier who fetches packed orders."""
