"""Who may do what in the admin, written out: every page and every action by every kind of person."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.admin import rows
from toa.admin.deadlines import Deadline
from toa.core.clock import to_datetime
from toa.models import Delay, Failure, History, Pulse, Run, Schedule

pytestmark = pytest.mark.django_db

HOUR = 3_600_000

PEOPLE = ("anonymous", "without", "view only", "act only", "both", "superuser")
"""Nobody; staff without a permission; with the one to look, with the one to act, with both; and who may everything."""

LOOKING = dict(zip(PEOPLE, (302, 403, 200, 403, 200, 200), strict=True))
"""Who gets a page."""
ACTING = dict(zip(PEOPLE, (302, 403, 403, 403, 302, 302), strict=True))
"""Who has an action taken: it leads back to the list, as for nobody the login does."""
ASKING = dict(zip(PEOPLE, (302, 403, 403, 403, 200, 200), strict=True))
"""Who is asked by an action that asks first."""

ACTIONS = (
    # model, action, the permission beside the one to look, what it is told, whether it asks first
    (Delay, "cancel", "cancel_delay", {}, True),
    (Delay, "move", "move_delay", {"interval": "2h"}, True),
    (Delay, "fire", "move_delay", {}, False),
    (Pulse, "pause", "pause_pulse", {}, False),
    (Pulse, "resume", "pause_pulse", {}, False),
    (Pulse, "fire", "fire_pulse", {}, False),
    (Schedule, "pause", "pause_schedule", {}, False),
    (Schedule, "resume", "pause_schedule", {}, False),
    (Schedule, "fire", "fire_schedule", {}, False),
    (Failure, "retry", "retry_failure", {}, False),
    (Failure, "discard", "discard_failure", {}, True),
    (History, "replay", "replay_delivery", {}, True),
    (Run, "cancel", "cancel_run", {}, True),
    (Run, "retry", "retry_failure", {}, False),
    (Run, "discard", "discard_failure", {}, True),
)
PAGES = (*((model, f"view_{model._meta.model_name}") for model in rows.MODELS), (Deadline, "view_component"))

EVERY_PERSON = pytest.mark.parametrize("person", PEOPLE)


def subject(model, action, now):
    """A row that the action can be taken on."""
    if model is Delay:
        return rows.delay(now, HOUR)
    if model is Failure:
        return rows.failure(now, source="delay", endpoint="store.orders.cancel")
    if model is Run:
        if action == "cancel":
            return rows.run(now, HOUR)
        rests = rows.run(now, wake_at=None, failed_at=to_datetime(now))
        rows.failure(now, call=rests.pk, source="run", endpoint=rests.endpoint, entity="", row={"step": 0})
        return rests
    if model is History:
        request = {"input": {"reason": "EXPIRED"}, "query": {"id": rows.ORDER}}
        return rows.history(now, source="delivery", request=request)
    # One that the code knows: a call of it is stored.
    row = model.objects.filter(endpoint__startswith="store.", retired_at=None).first()
    if action == "resume":
        row.paused_at, row.paused_by = row.cursor if model is Schedule else row.wake_at, "somebody"
        row.save()
    return row


def login(person, staff, view, act):
    if person == "anonymous":
        return Client()
    if person == "superuser":
        client = Client()
        client.force_login(User.objects.create_superuser(f"root{User.objects.count()}"))
        return client
    return staff(*{"without": (), "view only": (view,), "act only": (act,), "both": (view, act)}[person])


def everything():
    """All rows of toa's tables that an action could touch."""
    return [list(model.objects.order_by("pk").values()) for model in rows.MODELS]


@EVERY_PERSON
@pytest.mark.parametrize(("model", "action", "permission", "told", "asks"), ACTIONS)
def test_O6_who_may_act_acts_and_for_others_nothing_changes(
    model, action, permission, told, asks, person, staff, address, toa_clock
):
    row = subject(model, action, toa_clock.now)
    client = login(person, staff, f"view_{model._meta.model_name}", permission)
    own = reverse(f"admin:toa_{model._meta.model_name}_act", args=[action])
    may = person in ("both", "superuser")
    before = everything()

    page, listed = client.get(address(model, row)), client.get(address(model))
    assert page.status_code == listed.status_code == LOOKING[person]
    assert (own in page.content.decode()) is may
    assert (f'<option value="{action}">' in listed.content.decode()) is may

    # The list takes the action at once, or asks; what is posted by hand is taken from nobody else.
    chosen = client.post(address(model), {"action": action, "index": "0", "_selected_action": str(row.pk)})
    assert chosen.status_code == (ASKING if asks else ACTING)[person]
    if asks or not may:
        assert everything() == before
        bare = client.post(own, {"_selected_action": str(row.pk)})
        assert bare.status_code == (ASKING if asks else ACTING)[person]
        assert everything() == before
        answered = client.post(own, {"_selected_action": str(row.pk), **told, "answered": "1"})
        assert answered.status_code == ACTING[person]
    if person == "anonymous":
        assert chosen.url.startswith(reverse("admin:login"))
    assert (everything() != before) is may
    assert [entry.object_id for entry in LogEntry.objects.all()] == ([str(row.pk)] if may else [])


@EVERY_PERSON
def test_O6_who_may_look_sees_a_page_and_others_do_not(person, staff):
    for model, permission in PAGES:
        client = login(person, staff, permission, "cancel_delay")
        status = client.get(reverse(f"admin:toa_{model._meta.model_name}_changelist")).status_code
        assert status == LOOKING[person], model
