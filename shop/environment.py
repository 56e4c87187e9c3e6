"""What the environment says about the shop, as settings of toa.

| variable | meaning | default |
|---|---|---|
| `TOA_SHOP_EXPIRY` | who cancels unpaid orders: `sweep`, `alarm` or `process` | as in the manifest of store.orders |
| `TOA_SHOP_WINDOW` | how long an order may stay unpaid, in all three ways: `5s`, `1h` | as in the manifests |
| `TOA_SHOP_SWEEP` | how often unpaid orders are swept, in whole seconds | as in the manifest |
| `TOA_SHOP_SYNC` | how often the stock is compared with the warehouse, in whole seconds | as in the manifest |
| `TOA_SHOP_REVIVE` | how often paid orders that went silent are asked about, in whole seconds | as in the manifest |
| `TOA_SHOP_BOOK` | how often couriers are booked, in whole seconds | as in the manifest |
"""

from __future__ import annotations

from collections.abc import Mapping

from django.core.exceptions import ImproperlyConfigured

ADDRESS, TOKEN = "TOA_FULFILMENT_WAREHOUSE_ADDRESS", "TOA_FULFILMENT_WAREHOUSE_TOKEN"
"""Variables with where the warehouse is reached, and what is shown to it: configuration of fulfilment.warehouse."""

_PULSES = {
    "TOA_SHOP_SWEEP": "store.orders.expire",
    "TOA_SHOP_SYNC": "fulfilment.stock.sync",
    "TOA_SHOP_REVIVE": "store.orders.revive",
    "TOA_SHOP_BOOK": "fulfilment.courier.book",
}
_ASKING = ("FULFILMENT_WAREHOUSE", "FULFILMENT_COURIER", "STORE_PAYMENTS")


def reaching(address: str, token: str) -> dict[str, str]:
    """Variables for processes whose warehouse, courier and payment provider are one simulation at `address`."""
    return {
        f"TOA_{component}_{name}": value
        for component in _ASKING
        for name, value in (("ADDRESS", address), ("TOKEN", token))
    }


def toa_settings(environ: Mapping[str, str]) -> dict[str, dict[str, object]]:
    """The value of Django's setting `TOA`. What is not set is left to the manifests. Raises ImproperlyConfigured."""
    orders: dict[str, object] = {}
    for name, variable in (("expiry", "TOA_SHOP_EXPIRY"), ("window", "TOA_SHOP_WINDOW")):
        if value := environ.get(variable):
            orders[name] = value
    lifecycle: dict[str, object] = {"payment": orders["window"]} if "window" in orders else {}
    cadence: dict[str, object] = {}
    for variable, endpoint in _PULSES.items():
        if seconds := environ.get(variable):
            if not seconds.isascii() or not seconds.isdigit():
                raise ImproperlyConfigured(f"{variable} should be whole seconds, not {seconds!r}.")
            cadence[endpoint] = int(seconds)
    given = {"store.orders": orders, "store.lifecycle": lifecycle}
    return {"CADENCE": cadence, "CONFIGURATION": {component: values for component, values in given.items() if values}}
