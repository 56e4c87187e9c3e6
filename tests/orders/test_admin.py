"""Orders and stock in the admin: to be looked at."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.orders.placing import fill, place


@pytest.fixture
def shop(toa_clock):
    fill("tea", 10)
    identity = place("A-1", quantity=4)
    toa_clock.run_until_idle()
    return {"store_orders_order": identity, "fulfilment_stock_stock": "tea"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [("store_orders_order", [b"A-1", b"pending"]), ("fulfilment_stock_stock", [b"tea", b">6<", b">4<", b">1<"])],
)
def test_a_list_and_a_page_are_shown_and_nothing_can_be_changed(shop, admin_client, name, shown):
    listed = admin_client.get(reverse(f"admin:{name}_changelist"))
    assert listed.status_code == 200
    assert all(text in listed.content for text in shown)
    page = reverse(f"admin:{name}_change", args=[shop[name]])

    assert admin_client.get(page).status_code == 200
    assert b'name="_save"' not in admin_client.get(page).content
    assert admin_client.post(page, {}).status_code == 403
    assert admin_client.get(reverse(f"admin:{name}_add")).status_code == 403
    assert admin_client.post(reverse(f"admin:{name}_delete", args=[shop[name]])).status_code == 403


def test_orders_are_found_by_id_and_reference(shop, admin_client):
    identity = shop["store_orders_order"]
    for text, found in (("A-1", 1), (identity, 1), ("nobody", 0)):
        listed = admin_client.get(reverse("admin:store_orders_order_changelist"), {"q": text})
        assert listed.context["cl"].result_count == found
