"""The short windows of a run, and how its outside misbehaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WINDOW_S = 4
"""How long an order may stay unpaid."""
SILENCE_S = 4
"""How long a paid order may stay as it is until the warehouse is asked about it."""
PULSE_S = 3
"""How often each of the shop's pulses comes: what is called later than half of this after its boundary is missed."""
GRACE_MS = 1_500
"""How long a product has to be quiet until its figure is set."""
LEASE_S = 5
"""How long a pulse waits for a process that was killed: the lease in the manifests."""

_READ = {"CONNECT": "500ms", "READ": "500ms", "WHOLE": "1s"}

WINDOWS: Mapping[str, str] = {
    "TOA_STORE_ORDERS_WINDOW": f"{WINDOW_S}s",
    "TOA_STORE_ORDERS_SILENCE": f"{SILENCE_S}s",
    "TOA_STORE_ORDERS_PICKING": "warehouse",
    "TOA_SHOP_SWEEP": str(PULSE_S),
    "TOA_SHOP_SYNC": str(PULSE_S),
    "TOA_SHOP_REVIVE": str(PULSE_S),
    "TOA_SHOP_BOOK": str(PULSE_S),
    "TOA_FULFILMENT_STOCK_GRACE": f"{GRACE_MS}ms",
    **{
        f"TOA_{component}_{name}": value
        for component in ("FULFILMENT_WAREHOUSE", "FULFILMENT_COURIER", "STORE_PAYMENTS")
        for name, value in _READ.items()
    },
}
"""What the environment of the run's processes says about the shop."""

FAULTS: Mapping[str, Any] = {
    "fail": 0.06,
    "hang": 0.02,
    "lie": 0.04,
    "lost": 0.04,
    "slow_ms": 30,
    "hang_s": 2,
    "drift": 3,
    "drifting": "",
}
"""How the outside misbehaves: shares of the requests, and shelves that change by themselves, each second."""
