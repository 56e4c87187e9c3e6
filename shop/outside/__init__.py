"""How the shop speaks with systems that are not its own: over HTTP, bounded in every way, believing nothing unchecked.

A component that does has `address`, `token`, `connect`, `read`, `whole` and `largest` in its configuration.
"""
