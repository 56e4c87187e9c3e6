"""The list of pending deadlines over all components, as a page and as a command."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

import toa
from tests.components.claims.models import Claim
from tests.components.claims.operations import at_a
from toa.cadence.reports.pending import ORDER, pending
from toa.core.clock import to_datetime
from toa.core.cursor import encode_cursor
from toa.core.identity import uuid7
from toa.exceptions import InvalidQuery

pytestmark = pytest.mark.django_db

CLAIMS = "components.claims"
HOUR = 3_600_000


def claims(toa_clock, *moments, **columns):
    """Instances with `a` at these distances from now, made beside operations, so without a time-out."""
    at_a.TRIES.clear()
    rows = [
        Claim(
            id=uuid7(),
            log=[],
            a=None if offset is None else to_datetime(toa_clock.now + offset),
            created_at=to_datetime(toa_clock.now),
            updated_at=to_datetime(toa_clock.now),
            version=1,
            **columns,
        )
        for offset in moments
    ]
    return [row.id.hex for row in Claim.objects.bulk_create(rows)]


def run(*arguments):
    out = StringIO()
    call_command("toa", "deadlines", "list", *arguments, stdout=out)
    return out.getvalue()


def test_they_come_in_order_of_time_with_what_is_late(toa_clock):
    later, never, sooner = claims(toa_clock, 2 * HOUR, None, HOUR)
    toa_clock.set(toa_clock.now + HOUR + 500)
    page = pending()
    assert [(one.id, one.property, one.late_ms) for one in page.deadlines] == [(sooner, "a", 500), (later, "a", 0)]
    assert (page.after, never not in {one.id for one in page.deadlines}) == (None, True)


def test_pages_follow_one_another_without_a_gap_or_a_repetition(toa_clock):
    ids = claims(toa_clock, *[HOUR] * 4, *[2 * HOUR] * 3)
    with connection.cursor() as cursor:
        # Finer than the clock: what was cut to milliseconds would come again on each page.
        cursor.execute("UPDATE components_claims_claim SET a = a + interval '0.000007 s' WHERE id = %s", [ids[0]])
    found, after = [], None
    for _ in range(10):
        page = pending(limit=2, after=after)
        found += [one.id for one in page.deadlines]
        after = page.after
        if after is None:
            break
    assert found == [ids[1], ids[2], ids[3], ids[0], *ids[4:]]


def test_a_page_begins_rightly_behind_a_cursor_of_another_component(toa_clock):
    (identity,) = claims(toa_clock, HOUR)
    at = to_datetime(toa_clock.now + HOUR)
    for component, seen in (("a.first", [identity]), ("z.last", [])):
        after = encode_cursor(ORDER, {"at": at, "component": component, "id": "x"})
        assert [one.id for one in pending(after=after).deadlines] == seen


def test_a_held_instance_stands_where_its_wait_ends(toa_clock):
    held = claims(toa_clock, -HOUR, held_at=to_datetime(toa_clock.now + HOUR))[0]
    (plain,) = claims(toa_clock, 0)
    first, second = pending().deadlines
    assert (first.id, first.held, second.id, second.held) == (plain, False, held, True)
    assert (second.at, second.moment, second.late_ms) == (toa_clock.now + HOUR, toa_clock.now - HOUR, HOUR)


def test_what_stopped_closed_or_was_deleted_is_not_pending(toa_clock):
    claims(toa_clock, HOUR, clock_state="failed")
    claims(toa_clock, HOUR, clock_state="closed")
    claims(toa_clock, HOUR, deleted_at=to_datetime(toa_clock.now))
    assert pending().deadlines == ()


def test_a_cursor_of_another_list_is_refused(toa_clock):
    with pytest.raises(InvalidQuery):
        pending(after="x")


def test_each_page_is_read_from_the_indexes(toa_clock):
    claims(toa_clock, *range(2000))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE components_claims_claim")
    after = pending(limit=500).after
    statements = []

    def note(execute, sql, params, many, context):
        if "UNION ALL" in sql and "components_claims_claim" in sql:
            statements.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        assert len(pending(limit=20, after=after).deadlines) == 20
    (sql, params), *_ = statements
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params)
        plan = cursor.fetchone()[0]
        plan = json.loads(plan) if isinstance(plan, str) else plan
    scans = [node for node in nodes(plan[0]["Plan"]) if "Relation Name" in node or "Index Name" in node]
    assert {node["Node Type"] for node in scans} == {"Index Scan"}
    assert max(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in scans) <= 20


def nodes(plan):
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def test_the_command_lists_what_is_overdue_and_what_comes(toa_clock):
    late, soon, far = claims(toa_clock, -HOUR, HOUR, 9 * HOUR)
    assert [late in run("--overdue"), soon in run("--overdue")] == [True, False]
    within = run("--within", "2h")
    assert [late in within, soon in within, far in within] == [True, True, False]
    assert within.splitlines()[0].split() == ["AT", "COMPONENT", "ID", "DEADLINE", "STATE"]
    assert within.splitlines()[1].endswith("1h late")
    assert within.splitlines()[2].split() == f"2026-01-05 13:00:00 UTC, in 1h {CLAIMS} {soon} a pending".split()


def test_the_command_pages_by_its_own_cursor(toa_clock):
    ids = claims(toa_clock, *range(5))
    first = json.loads(run("--limit", "3", "--json"))
    second = json.loads(run("--limit", "3", "--after", first["after"], "--json"))
    assert [one["id"] for one in first["deadlines"] + second["deadlines"]] == ids
    assert second["after"] is None
    assert f"more: --after {first['after']}" in run("--limit", "3")


@pytest.mark.parametrize("arguments", [("--within", "soon"), ("--after", "x"), ("--component", "components.claim")])
def test_the_command_refuses_what_cannot_be(arguments, toa_clock):
    with pytest.raises(CommandError):
        run(*arguments)


def test_the_command_names_a_component_without_deadlines(toa_clock):
    with pytest.raises(CommandError, match="has no deadlines"):
        run("--component", "components.tallies")


def test_one_component_alone_is_listed(toa_clock):
    toa.call(f"{CLAIMS}.set", {"a": toa_clock.now + HOUR}, id=uuid7().hex)
    assert json.loads(run("--component", CLAIMS, "--json"))["deadlines"][0]["property"] == "a"
