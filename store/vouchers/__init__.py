"""Vouchers: a discount, so many times, until a moment."""
