"""Loyalty: what customers earn by their orders, and how many deliveries are free this month."""
