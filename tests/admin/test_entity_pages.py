"""An object's page: its time, and the operations that a person may call from it."""

import html
import logging
import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.admin.utils import quote
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

import toa
from store.orders.models import Order
from tests.admin.reading import text_of
from tests.components.voyages.operations import sail
from tests.orders.placing import configured, fill, order, place
from toa import time
from toa.core.clock import to_datetime
from toa.runtime import bindings

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(db):
    """A client of a person of the staff with these permissions of store.orders, and no other."""

    def login(*permissions):
        user = User.objects.create_user(f"operator{User.objects.count()}", is_staff=True)
        user.user_permissions.set(
            Permission.objects.filter(content_type__app_label="store_orders", codename__in=permissions)
        )
        client = Client()
        client.force_login(user)
        return client

    return login


def page_of(identity):
    return reverse("admin:store_orders_order_change", args=[identity])


def form_of(operation, identity=None):
    if identity is None:
        return reverse("admin:store_orders_order_create", args=[operation])
    return reverse("admin:store_orders_order_call", args=[identity, operation])


def given(values, **more):
    return {f"call-input-{name}": value for name, value in values.items()} | {
        f"call-{name}": value for name, value in more.items()
    }


NEW = {"reference": "B-1", "customer": "anna", "product": "tea", "quantity": "2", "total": "9.90"}


def test_O6_the_buttons_are_those_of_the_operations_that_the_person_may_call(operator, toa_clock):
    identity = place("A-1")
    for permissions, shown in (
        ([], []),
        (["call_cancel"], ["cancel"]),
        (["call_terminate", "call_cancel", "call_create", "call_expire"], ["cancel", "terminate"]),
    ):
        page = operator("view_order", *permissions).get(page_of(identity)).content.decode()
        assert re.findall(r'<a class="button[^>]*>(\w+)</a>', page) == shown


@pytest.mark.parametrize(
    ("permissions", "operation", "status"),
    [
        ([], "cancel", 403),
        (["call_cancel"], "cancel", 403),
        (["view_order"], "cancel", 403),
        (["view_order", "call_approve"], "cancel", 403),
        (["view_order", "call_cancel"], "cancel", 302),
        (["view_order", "call_expire"], "expire", 404),
        (["view_order", "call_observe"], "observe", 404),
        (["view_order"], "nonsense", 404),
    ],
)
def test_O6_a_request_by_hand_needs_both_permissions(permissions, operation, status, operator, toa_clock):
    identity = place("A-1")
    client = operator(*permissions)
    answer = client.post(form_of(operation, identity), given({"reason": "STUCK"}, seen="1"))
    assert answer.status_code == status
    assert order(identity).status == ("cancelled" if status == 302 else "pending")
    assert client.get(form_of(operation, identity)).status_code == (200 if status == 302 else status)


def test_every_button_leads_to_its_form(root, toa_clock):
    fill("a_b/c", 10)
    with configured(expiry="process"):
        identity = place("A-1", product="a_b/c")
        toa_clock.run_until_idle()
    for name, key in (("store_lifecycle_process", identity), ("fulfilment_stock_stock", quote("a_b/c"))):
        page = root.get(reverse(f"admin:{name}_change", args=[key])).content.decode()
        links = re.findall(r'<a class="button[^"]*" href="([^"]+)"', page)
        assert links
        for link in links:
            assert root.get(html.unescape(link)).status_code == 200, link


def test_a_person_who_is_nobody_is_sent_to_the_login(client, toa_clock):
    identity = place("A-1")
    answer = client.post(form_of("cancel", identity), given({"reason": "STUCK"}, seen="1"))
    assert answer.status_code == 302
    assert "/login/" in answer["Location"]
    assert order(identity).status == "pending"


def test_a_form_without_its_token_is_refused(toa_clock):
    identity = place("A-1")
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("root"))
    assert client.post(form_of("cancel", identity), given({"reason": "STUCK"}, seen="1")).status_code == 403
    assert order(identity).status == "pending"


def test_a_call_says_what_it_did_and_is_in_the_log(root, toa_clock):
    identity = place("A-1")
    answer = root.post(form_of("cancel", identity), given({"reason": "STUCK"}, seen="1"), follow=True)
    assert "Called store.orders.cancel: it is at version 2 now." in text_of(answer)
    assert answer.redirect_chain == [(page_of(identity), 302)]
    assert order(identity).reason == "STUCK"
    entry = LogEntry.objects.get()
    assert entry.get_change_message() == "Called store.orders.cancel; it is at version 2 now."
    assert entry.user.username == "root"


def test_a_change_meanwhile_is_told_and_not_overwritten(root, toa_clock):
    identity = place("A-1")
    toa.call("store.orders.approve", id=identity)
    answer = root.post(form_of("cancel", identity), given({"reason": "STUCK"}, seen="1"))
    assert "it changed while you looked, from version 1 to 2" in text_of(answer)
    assert "status approved" in text_of(answer)  # as it is now
    assert 'name="call-seen" value="2"' in answer.content.decode()
    assert 'value="STUCK"' in answer.content.decode()
    assert order(identity).status == "approved"


def test_a_form_that_is_sent_twice_is_one_call(root, toa_clock):
    identity = place("A-1")
    forms = given({"reason": "STUCK"}, seen="1")
    assert root.post(form_of("cancel", identity), forms).status_code == 302
    assert root.post(form_of("cancel", identity), forms).status_code == 200
    assert order(identity).VERSION == 2

    for _ in range(2):  # with a once key the second answer is the first one's
        answer = root.post(form_of("create"), given(NEW, once="k"))
        assert answer.status_code == 302
    assert Order.objects.filter(reference="B-1").count() == 1
    other = root.post(form_of("create"), given(NEW | {"quantity": "3"}, once="k"))
    assert "once key" in text_of(other)


def test_refusals_stand_at_the_field_that_they_are_about(root, toa_clock):
    page = root.post(form_of("create"), given(NEW | {"total": "20000"}, once="k")).context["form"]
    assert page.errors == {"input-total": ["Refused: LIMIT_EXCEEDED (total: 20000.00, limit: 10000)."]}
    page = root.post(form_of("create"), given(NEW | {"total": "1.234", "quantity": "0"}, once="k")).context["form"]
    assert set(page.errors) == {"input-total", "input-quantity"}
    page = root.post(form_of("create"), given(NEW | {"customer": ""}, once="k")).context["form"]
    assert set(page.errors) == {"input-customer"}
    place("B-1")
    page = root.post(form_of("create"), given(NEW, once="k")).context["form"]
    assert "reference" in page.errors["__all__"][0]
    assert Order.objects.count() == 1


@pytest.mark.parametrize(
    ("quantity", "reply"), [(1, toa.Error("SURPRISE", password="hunter2")), (0, None)], ids=["reply", "row"]
)
def test_an_operation_that_breaks_its_declaration_is_told_under_the_id_in_the_log(
    root, toa_clock, monkeypatch, caplog, quantity, reply
):
    identity = place("A-1")
    root.raise_request_exception = False  # the client would raise what is reported, though it was dealt with

    def broken(input, entry, context):
        entry.reason, entry.quantity = "half", quantity
        return reply

    monkeypatch.setattr(bindings.operation("store.orders.cancel"), "function", broken)
    with caplog.at_level(logging.ERROR, logger="toa.admin"):
        answer = root.post(form_of("cancel", identity), given({"reason": "X"}, seen="1"))
    assert answer.status_code == 200
    (line,) = (record for record in caplog.records if record.name == "toa.admin")
    assert answer.context["form"].errors["__all__"] == [
        f"Nothing was done: store.orders.cancel broke its own declaration. The log knows more, under {line.problem}."
    ]
    assert line.exc_info is not None
    assert "hunter2" not in answer.content.decode()
    assert order(identity).reason is None


def test_an_object_is_made_from_the_list(root, operator, toa_clock):
    listed = root.get(reverse("admin:store_orders_order_changelist")).content.decode()
    assert f'href="{form_of("create")}"' in listed
    assert (
        form_of("create")
        not in operator("view_order").get(reverse("admin:store_orders_order_changelist")).content.decode()
    )
    answer = root.post(form_of("create"), given(NEW, once="k"), follow=True)
    made = Order.objects.get()
    assert answer.redirect_chain == [(page_of(made.pk.hex), 302)]
    assert "Called store.orders.create: B-1 (pending) was made." in text_of(answer)
    assert operator("view_order").post(form_of("create"), given(NEW, once="l")).status_code == 403


def test_an_assignment_sends_what_was_changed(root, toa_clock):
    fill("tea", 10)
    address = reverse("admin:fulfilment_stock_stock_call", args=["tea", "assign"])
    assert 'value="10"' in root.get(address).content.decode()
    root.post(address, given({"available": "12"}, seen="1"))
    assert toa.call("fulfilment.stock.observe", id="tea").available == 12
    emptied = root.post(address, given({"available": ""}, seen="2"))
    assert "This field is required." in text_of(emptied)


def test_nothing_is_offered_on_what_was_terminated(root, toa_clock):
    identity = place("A-1")
    root.post(form_of("terminate", identity), given({}, seen="1"))
    page = root.get(page_of(identity)).content.decode()
    assert 'class="toa-operations"' not in page
    answer = root.post(form_of("cancel", identity), given({"reason": "STUCK"}, seen="2"))
    assert "was terminated" in text_of(answer)


def test_what_stands_in_a_row_is_escaped(root, toa_clock):
    hostile = "<script>alert(1)</script>"
    identity = place(hostile)
    toa.call("store.orders.cancel", {"reason": "<img src=x>"}, id=identity)
    for address in (page_of(identity), form_of("approve", identity), reverse("admin:store_orders_order_changelist")):
        page = root.get(address).content.decode()
        assert hostile not in page
        assert "<img src=x>" not in page
        assert not re.search(r"<[^>]+\son\w+=", page)


def test_what_is_ahead_and_what_is_behind(root, toa_clock):
    fill("tea", 10)
    with configured(expiry="process"):
        identity = place("A-1")
        toa_clock.run_until_idle()
    page = root.get(reverse("admin:store_lifecycle_process_change", args=[identity]))
    time = page.context["toa_time"]
    day = 24 * 60
    assert [(one["what"], one["moment"]["ms"] - toa_clock.now, one["endpoint"]) for one in time["ahead"]] == [
        ("reminder", day * 60_000, "store.lifecycle.remind"),
        ("payment_deadline", 3 * day * 60_000, "store.lifecycle.lapse"),
        ("timeout", 7 * day * 60_000, "store.lifecycle.give_up"),
    ]
    [begun] = time["behind"]
    assert (begun["endpoint"], begun["version"]) == ("store.lifecycle.begin", 1)
    assert "which store.orders.create raised" in begun["by"]
    assert ("reminders", "null", "0") in begun["changes"]
    assert any("reminder is not due yet" in sentence for sentence in time["sentences"])
    assert f'data-toa-now="{toa_clock.now}"' in page.content.decode()


def test_O2_an_order_that_cancelled_itself_says_by_which_call(root, toa_clock):
    fill("tea", 10)
    with configured(expiry="alarm", window="1h"):
        identity = place("A-1")
        toa_clock.run_until_idle()
        [alarm] = root.get(page_of(identity)).context["toa_time"]["ahead"][-1:]
        assert (alarm["kind"], alarm["endpoint"]) == ("delay", "store.orders.cancel")
        assert alarm["url"] == f"/admin/toa/delay/{order(identity).alarm}/change/"
        toa_clock.advance("1h")
    cancelled, created = root.get(page_of(identity)).context["toa_time"]["behind"]
    assert (cancelled["endpoint"], cancelled["version"], cancelled["by"]) == (
        "store.orders.cancel", 2, "a delay of store.orders.create",
    )  # fmt: skip
    assert ("status", "pending", "cancelled") in cancelled["changes"]
    assert (created["endpoint"], created["version"]) == ("store.orders.create", 1)


def test_a_person_who_may_not_see_delays_gets_no_link_to_one(operator, toa_clock):
    with configured(expiry="alarm"):
        identity = place("A-1")
    page = operator("view_order").get(page_of(identity))
    assert [one["url"] for one in page.context["toa_time"]["ahead"]] == [None] * len(page.context["toa_time"]["ahead"])


def test_O2_what_a_step_of_a_run_changed_leads_to_the_run(root, operator, toa_clock):
    fill("tea", 10)
    identity = place("A-1")

    async def refusing(input, context):
        await context.call("store.orders.cancel", {"reason": "STUCK"}, {"id": identity})
        await time.sleep("1h")

    sail.SCRIPTS["refusing"] = refusing
    run = toa.start("components.voyages.sail", {"script": "refusing"})
    toa_clock.run_until_idle()
    page = root.get(page_of(identity))
    [cancelled] = [one for one in page.context["toa_time"]["behind"] if one["endpoint"] == "store.orders.cancel"]
    assert cancelled["by"] == f"a step of the run {run} of components.voyages.sail"
    assert f'<a href="/admin/toa/run/{run}/change/">its run</a>' in page.content.decode()
    said = text_of(operator("view_order").get(page_of(identity)))
    assert f"The run {run} of components.voyages.sail changed it last 2026-01-05 12:00:00 UTC, now; it sleeps" in said
    assert "its run" not in said, "who may not see runs gets no link to one"


def test_who_called_is_named(root, toa_clock):
    fill("tea", 10)
    with configured(expiry="process"):
        identity = place("A-1")
        toa_clock.run_until_idle()
    address = reverse("admin:store_lifecycle_process_call", args=[identity, "settle"])
    root.post(address, given({}, seen="1"))
    page = root.get(reverse("admin:store_lifecycle_process_change", args=[identity]))
    assert page.context["toa_time"]["behind"][0]["by"] == "root"


def test_a_page_costs_the_same_however_much_waits_for_its_object(root, toa_clock):
    with configured(expiry="alarm"):
        identity = place("A-1")
    counts = []
    for number in (1, 30):
        for hour in range(number):
            request = {"query": {"id": identity}, "input": {"reason": "X"}}
            toa.delay("store.orders.cancel", request, interval=f"{hour + 1}h", overdue=None)
        with CaptureQueriesContext(connection) as queries:
            assert root.get(page_of(identity)).status_code == 200
        counts.append(len(queries))
    assert counts == [25, 25]


def test_a_moment_before_and_after_all_zones_can_be_shown(root, toa_clock):
    identity = place("A-1")
    Order.objects.filter(pk=identity).update(pay_by=to_datetime(253_402_300_799_000))
    assert "9999-12-31" in root.get(page_of(identity)).content.decode()
