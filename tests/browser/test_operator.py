"""A person on call, before the admin in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

import toa
from store.orders.models import Order
from tests.browser.conftest import PASSWORD
from tests.orders.placing import configured, fill, order, place
from toa.cadence.passes import Collected, run_pass
from toa.models import Delay, Failure, Pulse
from toa.runtime import bindings

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]


def made():
    """Make what is due, as a worker does; how much there was."""
    return run_pass(Collected()).settled


def address_of(identity):
    return f"/admin/store_orders/order/{identity}/change/"


def test_an_unpaid_order_is_watched_until_it_cancels_itself_and_says_why(page, root):
    with configured(expiry="alarm", window="8s"):
        fill("tea", 10)
        identity = place("A-1")
        page.goto(address_of(identity))
        page.fill("#id_username", "root")
        page.fill("#id_password", PASSWORD)
        page.click("input[type=submit]")

        alarm = page.locator(".toa-ahead-delay")
        expect(alarm).to_contain_text("store.orders.cancel")
        expect(alarm.locator("[data-toa-moment]")).to_have_text(re.compile(r"^in \d s$"))
        expect(alarm.locator("[data-toa-moment]")).to_have_text("in 1 s", timeout=10_000)  # nothing was asked anew
        expect(alarm.locator(".toa-late")).to_have_text(re.compile(r"^\d s late$"))
        while order(identity).status == "pending":
            made()

        expect(page.locator(".field-status .readonly")).to_have_text("cancelled")  # the page looked again by itself
    expect(page.locator(".field-reason .readonly")).to_have_text("EXPIRED")
    expect(page.locator("#toa-time")).to_contain_text("store.orders.cancel by a delay of store.orders.create")


def test_an_order_is_cancelled_by_its_form_and_another_one_opened_before_is_told(entered, context, root):
    identity = place("A-1")
    page, other = entered(user=root), context.new_page()
    page.goto(address_of(identity))
    page.click("text=cancel")
    other.goto(page.url)
    for one in (page, other):
        one.fill("[name=call-input-reason]", "<b>STUCK</b>")
    page.click("text=Call cancel")
    expect(page.locator(".messagelist")).to_contain_text("Called store.orders.cancel: it is at version 2 now.")
    expect(page.locator(".field-reason .readonly")).to_have_text("<b>STUCK</b>")

    other.click("text=Call cancel")
    expect(other.locator(".errornote + .errorlist")).to_contain_text("it changed while you looked, from version 1 to 2")
    other.click("text=Call cancel")
    expect(other.locator(".errornote + .errorlist")).to_have_text("Refused: NOT_PENDING (status: cancelled).")


def test_a_delay_is_cancelled_after_a_question(entered, root):
    with configured(expiry="alarm"):
        place("A-1")
    page = entered(user=root)
    page.goto("/admin/toa/delay/")
    page.click("#result_list tbody a >> nth=0")
    page.click("button:text('Cancel')")
    expect(page.locator("#content-main")).to_contain_text("This cannot be taken back.")
    assert Delay.objects.count() == 1
    page.click("input[value=Cancel]")
    expect(page.locator(".messagelist")).to_contain_text("Cancelled: store.orders.cancel")
    assert not Delay.objects.exists()


def test_a_failure_whose_cause_is_gone_is_retried(entered, root, monkeypatch):
    def broken(input, entry, context):
        raise ZeroDivisionError("of all things")

    fill("tea", 10)
    identity = place("A-1")
    with monkeypatch.context() as patch:
        patch.setitem(vars(bindings.operation("store.orders.approve")), "function", broken)
        toa.send("store.orders.approve", {"query": {"id": identity}})
        made()
    page = entered(user=root)
    page.goto("/admin/toa/failure/")
    page.check("#result_list input[type=checkbox] >> nth=1")
    page.select_option("[name=action]", label="Retry")
    page.click("button:text('Go')")
    expect(page.locator(".messagelist")).to_be_visible()
    assert not Failure.objects.exists()
    made()
    assert order(identity).status == "approved"


def test_a_pulse_is_paused(entered, root):
    page = entered(user=root)
    pulse = Pulse.objects.get(endpoint="store.orders.expire", name="")
    page.goto(f"/admin/toa/pulse/{pulse.pk}/change/")
    page.click("button:text('Pause')")
    expect(page.locator(".field-state .readonly")).to_contain_text("paused")
    pulse.refresh_from_db()
    assert pulse.paused_by == "root"


def test_O6_without_the_permission_there_is_no_button_and_a_request_by_hand_is_403(entered):
    identity = place("A-1")
    page = entered("view_order", "call_approve")
    page.goto(address_of(identity))
    expect(page.locator(".toa-operations")).to_have_text("approve")
    for operation in ("cancel", "terminate"):
        assert page.goto(f"/admin/store_orders/order/{identity}/call/{operation}/").status == 403
    page.goto(f"/admin/store_orders/order/{identity}/call/approve/")
    token = page.locator("#toa-call [name=csrfmiddlewaretoken]").get_attribute("value")
    answer = page.request.post(
        f"/admin/store_orders/order/{identity}/call/cancel/",
        form={"csrfmiddlewaretoken": token, "call-seen": "1", "call-input-reason": "STUCK"},
    )
    assert answer.status == 403
    assert order(identity).status == "pending"
    assert Order.objects.get().version == 1


def test_the_clock_page_draws_what_comes_and_says_what_to_start(entered, root):
    with configured(expiry="alarm"):
        place("A-1")
    page = entered(user=root)
    page.goto("/admin/toa/clock/")
    expect(page.get_by_role("status")).to_contain_text("no beat is alive")
    expect(page.get_by_role("img", name="What comes due in the next 24 hours")).to_be_visible()
    assert page.locator("svg rect.toa-delay").count() == 1
    page.click("text=The numbers")
    expect(page.locator("details table")).to_contain_text("1")


def test_lists_keep_to_the_width_of_the_page(entered, root):
    fill("tea", 10)
    with configured(expiry="process"):
        place("A-1")
    with configured(expiry="alarm"):
        place("A-2")
    while made():
        pass
    page = entered(user=root)
    for width, name in ((1280, "pulse"), (1280, "history"), (390, "deadline"), (390, "delay")):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(f"/admin/toa/{name}/")
        expect(page.locator("#result_list tbody tr").first).to_be_visible()
        found = page.evaluate(
            "() => { const list = document.querySelector('.results');"
            " return [document.documentElement.scrollWidth, list.scrollWidth - list.clientWidth] }"
        )
        assert found[0] == width, name
        assert found[1] == 0 or width == 390, name  # on a phone the list scrolls within itself
