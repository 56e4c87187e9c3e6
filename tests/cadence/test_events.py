"""Events on their way and settled: listed, shown, sent again."""

import json
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

import toa
from tests.components.claims.models import Claim
from toa.cadence.actions.failures import discard
from toa.cadence.actions.replaying import replay
from toa.cadence.reports.deliveries import live, settled, show
from toa.exceptions import Conflict, InvalidInput, InvalidQuery, NotFound
from toa.models import Delay, Delivery, Failure, History

pytestmark = pytest.mark.django_db

CLAIMS = "components.claims"
TALLIES = "components.tallies"


@pytest.fixture
def tally(toa_clock):
    identity = toa.call(f"{TALLIES}.create", {"name": "first"})["id"]
    toa_clock.run_until_idle()
    return identity


def add(identity):
    toa.call(f"{TALLIES}.add", {"by": 1}, id=identity)


def to_claims(lines):
    return [one for one in lines if one.endpoint == f"{CLAIMS}.hear"]


def run(*arguments):
    out = StringIO()
    call_command("toa", "events", *arguments, stdout=out)
    return out.getvalue()


def test_each_state_is_told_apart_and_filtered_by(tally, toa_clock):
    toa.call(f"{CLAIMS}.set", {"mode": "deaf"}, id=tally)
    for _ in range(2):
        add(tally)
        toa_clock.run_until_idle()
    add(tally)
    Delivery.objects.exclude(receiver=CLAIMS).filter(version=4).update(token=uuid4())
    found = {one.version: one.state for one in to_claims(live()[0])}
    assert found == {2: "failed", 3: "parked", 4: "waiting"}
    for state, version in (("failed", 2), ("parked", 3), ("waiting", 4)):
        (one,) = to_claims(live(state=state)[0])
        assert (one.version, one.state, one.event) == (version, state, f"{TALLIES}.updated")
    assert {one.state for one in live(state="leased")[0]} == {"leased"}
    assert "deaf" in to_claims(live(state="failed")[0])[0].error


def test_pages_follow_one_another(tally, toa_clock):
    for _ in range(5):
        add(tally)
    whole = [one.id for one in live()[0]]
    pages, after = [], None
    while True:
        found, after = live(limit=3, after=after)
        pages += [one.id for one in found]
        if after is None:
            break
    assert (pages, len(whole) > 5) == (whole, True)
    with pytest.raises(InvalidQuery):
        live(after="x")


def test_the_history_is_by_event_the_newest_first(tally, toa_clock):
    for _ in range(3):
        toa_clock.advance(1000)
        add(tally)
        toa_clock.run_until_idle()
    found, after = settled(event=f"{TALLIES}.updated", limit=4)
    assert [one.at for one in found] == sorted((one.at for one in found), reverse=True)
    rest, end = settled(event=f"{TALLIES}.updated", after=after)
    assert {one.event for one in found + rest} == {f"{TALLIES}.updated"}
    assert {one.source for one in found + rest} == {f"{TALLIES}:{tally}"}
    assert (
        len({one.id for one in found + rest})
        == len(found + rest)
        == History.objects.filter(source="delivery", cause__event=f"{TALLIES}.updated").count()
    )
    assert end is None


def test_one_is_shown_while_it_waits_and_afterwards(tally, toa_clock):
    add(tally)
    row = Delivery.objects.get(receiver=CLAIMS)
    before = show(row.id)
    assert (before["live"].state, before["settled"], before["request"]) == ("waiting", [], row.request)
    toa_clock.run_until_idle()
    after = show(row.id)
    assert (after["live"], [one.outcome for one in after["settled"]]) == (None, ["made"])
    assert after["request"] == row.request
    with pytest.raises(NotFound):
        show(uuid4())


def test_a_replay_is_a_new_call_under_a_new_id(tally, toa_clock):
    add(tally)
    row = Delivery.objects.get(receiver=CLAIMS)
    toa_clock.run_until_idle()
    log = Claim.objects.get(id=tally).log
    new = replay(row.id, by="ann")
    call = Delay.objects.get(id=new)
    assert (call.endpoint, call.request, call.entity) == (f"{CLAIMS}.hear", row.request, f"{CLAIMS}:{tally}")
    assert call.cause == {"event": f"{TALLIES}.updated", "replays": row.id.hex, "replayed_by": "ann"}
    toa_clock.run_until_idle()
    assert Claim.objects.get(id=tally).log == [*log, "updated 1"]
    assert History.objects.get(call=new).outcome == "made"


def test_what_is_on_its_way_or_unknown_is_not_replayed(tally, toa_clock):
    add(tally)
    with pytest.raises(Conflict, match="still on its way"):
        replay(Delivery.objects.filter(receiver=CLAIMS).get().id, by="ann")
    with pytest.raises(NotFound):
        replay(uuid4(), by="ann")


def test_a_discarded_event_can_be_sent_again(tally, toa_clock):
    toa.call(f"{CLAIMS}.set", {"mode": "deaf"}, id=tally)
    add(tally)
    toa_clock.run_until_idle()
    failure = Failure.objects.get()
    discard(failure.id, by="ann")
    toa.call(f"{CLAIMS}.set", {"mode": None}, id=tally)
    replay(failure.call, by="ann")
    toa_clock.run_until_idle()
    assert "updated 1" in Claim.objects.get(id=tally).log


def test_a_receiver_that_takes_it_no_more_refuses_the_replay(tally, toa_clock):
    add(tally)
    row = Delivery.objects.get(receiver=CLAIMS)
    toa_clock.run_until_idle()
    History.objects.filter(call=row.id).update(request={"query": {"id": tally}, "input": {"other": 1}})
    with pytest.raises(InvalidInput):
        replay(row.id, by="ann")
    History.objects.filter(call=row.id).update(request=None)
    with pytest.raises(Conflict, match="was not kept"):
        replay(row.id, by="ann")


def test_the_command_lists_shows_and_replays(tally, toa_clock):
    add(tally)
    row = Delivery.objects.get(receiver=CLAIMS)
    listed = run("list", "--state", "waiting")
    assert listed.splitlines()[0].split() == ["DUE", "EVENT", "FROM", "TO", "STATE", "ID"]
    assert row.id.hex in listed
    assert "at version 2, to components.claims.hear: waiting." in run("show", row.id.hex)
    toa_clock.run_until_idle()
    assert row.id.hex not in run("list")
    assert row.id.hex in run("list", "--settled", "--event", f"{TALLIES}.updated")
    assert "to components.claims.hear: made, " in run("show", row.id.hex)
    said = run("replay", row.id.hex, "--by", "ann")
    assert f"{row.id.hex} is sent again as the new call {Delay.objects.get().id.hex}" in said
    page = json.loads(run("list", "--settled", "--limit", "1", "--json"))
    assert len(page["events"]) == 1
    assert "more: --after" in run("list", "--settled", "--limit", "1")


def test_the_command_refuses_what_cannot_be(toa_clock):
    for arguments in (("show", uuid4().hex), ("replay", uuid4().hex), ("list", "--after", "x")):
        with pytest.raises(CommandError):
            run(*arguments)


def test_lists_are_read_from_indexes(tally, toa_clock):
    for _ in range(3):
        add(tally)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
    plans = []

    def note(execute, sql, params, many, context):
        if "FROM toa_delivery c LEFT JOIN" in sql:
            with connection.cursor() as cursor:
                cursor.cursor.execute(f"EXPLAIN {sql}", params)
                plans.append("\n".join(row[0] for row in cursor.cursor.fetchall()))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        live()
        live(state="parked")
    assert "toa_delivery_due" in plans[0]
    assert "toa_delivery_parked" in plans[1]
