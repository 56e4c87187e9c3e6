"""The demo: the shop on short windows, with real processes, a kill and an emptied broker, and the proof afterwards."""
