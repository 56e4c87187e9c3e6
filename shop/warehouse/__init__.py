"""A simulated outside, to try the shop against: a warehouse, a courier and a payment provider that misbehave.

Nothing here knows the shop or Django. The shop reaches it over HTTP alone, as it would reach the real ones.
"""
