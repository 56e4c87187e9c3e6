"""The shop's settings from the environment."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from shop.environment import toa_settings


def test_nothing_set_leaves_everything_to_the_manifests():
    assert toa_settings({}) == {"CADENCE": {}, "CONFIGURATION": {}}
    assert toa_settings({"TOA_SHOP_EXPIRY": "", "TOA_SHOP_SWEEP": ""}) == {"CADENCE": {}, "CONFIGURATION": {}}


def test_what_is_set_is_what_toa_reads():
    given = {
        "TOA_SHOP_EXPIRY": "alarm",
        "TOA_SHOP_WINDOW": "5s",
        "TOA_SHOP_SWEEP": "2",
        "TOA_SHOP_SYNC": "7",
        "TOA_SHOP_REVIVE": "8",
        "TOA_SHOP_BOOK": "9",
    }

    assert toa_settings(given) == {
        "CADENCE": {
            "store.orders.expire": 2,
            "fulfilment.stock.sync": 7,
            "store.orders.revive": 8,
            "fulfilment.courier.book": 9,
        },
        "CONFIGURATION": {
            "store.orders": {"expiry": "alarm", "window": "5s"},
            "store.lifecycle": {"payment": "5s"},
        },
    }


@pytest.mark.parametrize("seconds", ["soon", "1.5", "-1", "٣"])
def test_a_cadence_that_is_no_number_is_named(seconds):
    with pytest.raises(ImproperlyConfigured, match="TOA_SHOP_SWEEP should be whole seconds"):
        toa_settings({"TOA_SHOP_SWEEP": seconds})
