"""Orders: placed, then paid within a window or cancelled."""
