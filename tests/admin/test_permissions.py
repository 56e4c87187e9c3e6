"""Who may look, and that nobody may change."""

import pytest
from django.contrib.auth.models import User
from django.forms.models import model_to_dict
from django.test import Client
from django.urls import reverse

from tests.admin import rows
from toa.models import Delay, History

pytestmark = pytest.mark.django_db

EVERY_MODEL = pytest.mark.parametrize("model", rows.MODELS, ids=lambda model: model.__name__)
PAGES = ("change", "delete", "history")


def stored(model):
    return [model_to_dict(row) | {"pk": row.pk} for row in model.objects.order_by("pk")]


def pages(model, row, address):
    return [address(model), address(model, page="add"), *(address(model, row, page) for page in PAGES)]


@EVERY_MODEL
def test_O6_staff_without_the_permission_are_refused(model, staff, address, toa_clock):
    row = rows.fill(model, 1, toa_clock.now)[0]
    others = [f"view_{other._meta.model_name}" for other in rows.MODELS if other is not model]
    client = staff(*others)
    for page in pages(model, row, address):
        response = client.get(page)
        assert response.status_code == 403
        assert str(row.pk) not in response.content.decode()
    assert reverse(f"admin:toa_{model._meta.model_name}_changelist") not in client.get("/admin/").content.decode()


@EVERY_MODEL
def test_anonymous_people_are_led_to_the_login(model, address, toa_clock):
    row = rows.fill(model, 1, toa_clock.now)[0]
    for page in pages(model, row, address):
        for client in (Client(), logged_in(User.objects.create_user(f"visitor{User.objects.count()}"))):
            response = client.get(page)
            assert response.status_code == 302
            assert response.url.startswith(reverse("admin:login"))


@EVERY_MODEL
def test_the_permission_to_view_is_enough_to_look(model, staff, address, toa_clock):
    row = rows.fill(model, 1, toa_clock.now)[0]
    client = staff(f"view_{model._meta.model_name}")
    assert [client.get(page).status_code for page in pages(model, row, address)] == [200, 403, 200, 403, 200]


@EVERY_MODEL
def test_nobody_changes_anything(model, root, staff, address, toa_clock):
    row = rows.fill(model, 2, toa_clock.now)[0]
    before = stored(model)
    name = model._meta.model_name
    forms = [
        {"action": "delete_selected", "_selected_action": [str(row.pk)], "post": "yes", "index": "0"},
        {
            "_save": "Save",
            "endpoint": "store.orders.create",
            "locator": "other",
            "host": "other",
            "due_at_0": "2020-01-01",
        },
        {"_save": "Save", "form-TOTAL_FORMS": "1", "form-INITIAL_FORMS": "1", "form-0-id": str(row.pk)},
        {"post": "yes"},
    ]
    for client in (root, staff(f"view_{name}", f"change_{name}", f"delete_{name}", f"add_{name}")):
        for page in pages(model, row, address):
            for form in forms:
                status = client.post(page, form).status_code
                allowed = {200, 302} if page == address(model) else {200} if page.endswith("/history/") else {403}
                assert status in allowed
    assert stored(model) == before


def test_who_may_only_look_is_offered_nothing_else(staff, address, toa_clock):
    row = rows.delay(toa_clock.now)
    client = staff("view_delay")
    for page in (address(Delay), address(Delay, row)):
        content = client.get(page).content.decode()
        assert 'name="action"' not in content
        assert "_selected_action" not in content
        assert "_save" not in content
        assert "deletelink" not in content
        assert address(Delay, page="add") not in content


def test_history_of_an_object_is_the_log_of_the_admin(root, address, toa_clock):
    row = rows.history(toa_clock.now)
    assert root.get(address(History, row, "history")).status_code == 200


def logged_in(user):
    client = Client()
    client.force_login(user)
    return client
