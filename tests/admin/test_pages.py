"""Every page of toa's tables opens, with no row, one and many, at the same number of queries."""

import re

import pytest
from django.contrib import admin
from django.contrib.staticfiles import finders
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.admin import rows
from toa.admin.deadlines import Deadline
from toa.models import Component, EndedRun, Failure, Lock, Process, Pulse, Revision, Run, Schedule, ScheduledCall

pytestmark = pytest.mark.django_db

MANY = 130
"""More than a page."""

EVERY_MODEL = pytest.mark.parametrize("model", rows.MODELS, ids=lambda model: model.__name__)


def opened(client, address):
    """The page, and how many queries it took."""
    with CaptureQueriesContext(connection) as queries:
        response = client.get(address)
    assert response.status_code == 200, response
    return response, len(queries)


def test_the_tables_of_toa_that_people_look_at_are_registered():
    registered = {model for model in admin.site._registry if model._meta.app_label == "toa"}
    assert registered >= {*rows.MODELS, Deadline}


BESIDE = {Pulse: 1, Schedule: 2, ScheduledCall: 1}
"""Queries of a list for what its rows show from other tables: the last outcome, and what is being made; or for which
endpoints there are."""
BESIDE_ONE = {Pulse: 1, Schedule: 2, Component: 2, Failure: 1, Run: 12, EndedRun: 1}
"""The same of a row's own page: pulses and schedules of a component, what is parked behind a failure, steps of
a run, and what its words are made of."""


@EVERY_MODEL
def test_a_list_costs_the_same_with_no_row_one_and_many(model, root, address, toa_clock):
    counts = {}
    for number in (0, 1, MANY):
        rows.fill(model, number, toa_clock.now)
        response, counts[number] = opened(root, address(model))
        assert len(response.context["cl"].result_list) == min(number, 100)
    # Session, user, rows; without an endpoint there are no rows to read.
    expected = 3 + BESIDE.get(model, 0)
    assert counts == {0: expected - (model is ScheduledCall), 1: expected, MANY: expected}


@EVERY_MODEL
def test_a_list_costs_the_same_for_staff_who_may_view_it(model, staff, address, toa_clock):
    client = staff(f"view_{model._meta.model_name}")
    counts = []
    for number in (1, MANY):
        rows.fill(model, number, toa_clock.now)
        counts.append(opened(client, address(model))[1])
    assert counts[0] == counts[1]


@EVERY_MODEL
def test_a_row_has_a_page_of_its_own(model, root, address, toa_clock):
    counts = []
    for number in (1, MANY):
        row = rows.fill(model, number, toa_clock.now)[-1]
        root.get(address(model, row))  # Django looks up the model's content type once for a process
        response, count = opened(root, address(model, row))
        counts.append(count)
        page = response.content.decode().partition('id="content"')[2]
        fields = set(re.findall(r'<(?:input|select|textarea)[^>]* name="([^"]*)"', page))
        assert fields <= {"csrfmiddlewaretoken", "_selected_action", "page"}
    # Session, user, row.
    assert counts == [3 + BESIDE_ONE.get(model, 0)] * 2


@EVERY_MODEL
def test_every_choice_of_every_filter_opens(model, root, address, toa_clock):
    rows.fill(model, 3, toa_clock.now)
    response, _ = opened(root, address(model))
    page = response.context["cl"]
    assert bool(page.filter_specs) is (model not in (Component, Lock, Process, Revision))
    for one in page.filter_specs:
        # Of the endpoints, which are many and alike, two will do.
        for choice in list(one.choices(page))[: 3 if one.parameter_name == "endpoint" else None]:
            opened(root, address(model) + choice["query_string"])


@EVERY_MODEL
def test_a_row_that_is_gone_leads_back_with_a_message(model, root, address, toa_clock):
    row = rows.fill(model, 1, toa_clock.now)[0]
    gone = address(model, row)
    model.objects.all().delete()
    response = root.get(gone, follow=True)
    assert response.status_code == 200
    assert "Perhaps it was deleted?" in response.content.decode()


@EVERY_MODEL
@pytest.mark.parametrize("key", ["nonsense", "%00", "'", "_", "%F0%9F%98%80"])
def test_a_key_that_nothing_has_is_no_fault(model, key, root, address):
    assert root.get(f"{address(model)}{key}/change/").status_code == 302


def test_pages_bring_the_style_of_long_lines_and_no_script(root, address, toa_clock):
    content = root.get(address(Failure, rows.failure(toa_clock.now))).content.decode()
    assert '<link href="/static/toa/admin.css"' in content
    assert finders.find("toa/admin.css") is not None
    assert "/static/toa/" not in "".join(re.findall("<script[^>]*>", content))
