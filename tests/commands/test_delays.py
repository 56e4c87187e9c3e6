"""`manage.py toa delays`."""

from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

import toa as api
from tests.cadence.plans import emptied
from tests.commands.saying import toa
from tests.components.tallies.operations import report
from toa.core.clock import to_datetime
from toa.models import Delay, Failure, History

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_else")]

TALLIES = "components.tallies"
REPORT, ADD = f"{TALLIES}.report", f"{TALLIES}.add"
MINUTE, HOUR = 60_000, 3_600_000


def arm(interval, endpoint=REPORT, overdue=None, **more):
    return api.delay(endpoint, {"input": {}, **more}, interval=interval, overdue=overdue)


def ids(*arguments):
    return [one["id"] for one in toa("delays", "list", *arguments, "--json").data["delays"]]


@pytest.fixture
def tally(toa_clock):
    identity = api.call(f"{TALLIES}.create", {"name": "first"})["id"]
    toa_clock.run_until_idle()
    return identity


# -- list ------------------------------------------------------------------------------------------------------


def test_the_list_is_in_order_of_time_over_all_endpoints(tally):
    third = arm("3h")
    first = arm("1h", endpoint=ADD, query={"id": tally})
    second = arm("2h")
    assert ids() == [first, second, third]
    assert ids("--endpoint", REPORT) == [second, third]
    assert ids("--endpoint", "components.tallies.unheard") == []


def test_the_list_tells_whom_a_call_concerns_when_and_how_it_stands(tally, toa_clock):
    reply = api.call(f"{TALLIES}.arm", {"interval": "90m", "key": "payment"}, id=tally)
    said = toa("delays", "list", "--entity", f"{TALLIES}:{tally}", "--json").data
    (one,) = said["delays"]
    assert one["id"] == reply.delay
    armed = {"endpoint": ADD, "entity": f"{TALLIES}:{tally}", "key": "payment", "source": "delay", "attempts": 0}
    assert {name: one[name] for name in armed} == armed
    assert (one["due"], one["state"], one["lateness_ms"]) == (toa_clock.now + 90 * MINUTE, "waiting", 0)
    assert one["request"] == {"input": {"by": 1}, "query": {"id": tally}}
    text = toa("delays", "list").text
    assert reply.delay in text
    assert "2026-01-05 13:30:00 UTC, in 1h30m  waiting" in text
    assert ids("--entity", f"{TALLIES}:{'0' * 32}") == []
    assert ids("--entity", f"{TALLIES}:{tally}", "--endpoint", REPORT) == []


def test_what_is_tried_again_tells_what_the_last_try_ended_in(tally, toa_clock):
    call = api.delay(REPORT, {"input": {"fail": 99}}, interval="1h", overdue=None)
    toa_clock.set(toa_clock.now + 60 * MINUTE)
    toa_clock.run_until_idle()
    (one,) = toa("delays", "list", "--json").data["delays"]
    assert (one["state"], one["attempts"], one["error"]) == ("retrying", 1, "Transient: not yet")
    assert "retrying: Transient: not yet" in toa("delays", "list").text
    assert "  error     Transient: not yet" in toa("delays", "show", call).text


def test_overdue_is_what_waits_to_be_made_now(toa_clock):
    late, running, retrying, coming = (arm("1h") for _ in range(4))
    arm("3h")
    toa_clock.set(toa_clock.now + HOUR)
    handed_out = to_datetime(toa_clock.now + 1000)
    Delay.objects.filter(id=UUID(late)).update(wake_at=handed_out)
    lease_end = to_datetime(toa_clock.now + 30_000)
    Delay.objects.filter(id=UUID(running)).update(token=UUID(int=1), wake_at=lease_end)
    Delay.objects.filter(id=UUID(retrying)).update(attempt=1, wake_at=lease_end)
    Delay.objects.filter(id=UUID(coming)).update(due_at=handed_out, wake_at=handed_out)
    assert ids("--overdue") == [late]
    states = {one["id"]: one["state"] for one in toa("delays", "list", "--json").data["delays"]}
    assert [states[one] for one in (late, running, retrying, coming)] == ["due", "running", "retrying", "waiting"]
    toa_clock.set(toa_clock.now + 30_000)
    assert set(ids("--overdue")) == {late, running, retrying, coming}, "the process that ran it is gone, or slow"


def test_within_is_what_is_looked_at_until_then(toa_clock):
    soon, later = arm("59m"), arm("61m")
    assert ids("--within", "1h") == [soon]
    assert ids("--within", "2h") == [soon, later]


def test_pages_meet_each_call_once_in_order_also_those_of_one_millisecond():
    for minute in range(12):
        arm(minute // 4 * MINUTE)
        arm(minute // 4 * MINUTE, endpoint="components.beacons.ping")
    whole = ids()
    assert len(whole) == 24
    met, mark = [], []
    while True:
        page = toa("delays", "list", "--limit", 5, *mark, "--json").data
        met += [one["id"] for one in page["delays"]]
        if page["after"] is None:
            break
        assert len(page["delays"]) == 5
        mark = ["--after", page["after"]]
    assert met == whole
    mark = toa("delays", "list", "--limit", 5, "--json").data["after"]
    assert f"more: --after {mark}" in toa("delays", "list", "--limit", 5).text


def test_an_empty_list_says_so():
    said = toa("delays", "list", "--overdue")
    assert (said.code, said.text) == (0, "No such call is stored.\n")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--limit", "0"), "'0' is no whole number from 1"),
        (("--limit", "1001"), "a page has 1 to 1000 calls, not 1001"),
        (("--within", "soon"), "'soon' is no duration"),
        (("--within", "-1h"), "--within"),
        (("--after", "yesterday"), "'yesterday' is no mark"),
        (("--after", "99999999999999999999-00"), "is no mark"),
    ],
)
def test_a_list_that_is_asked_for_wrongly_is_a_wrong_use(arguments, complaint):
    said = toa("delays", "list", *arguments)
    assert said.code != 0
    assert complaint in said.text


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--overdue"],
        ["--within", "1h"],
        ["--endpoint", REPORT],
        ["--entity", f"{TALLIES}:17"],
        ["--entity", f"{TALLIES}:17", "--overdue", "--endpoint", REPORT],
        ["--after", f"1767618000000-{'0' * 32}"],
        ["--after", f"1767618000000-{'0' * 32}", "--endpoint", REPORT],
    ],
)
def test_every_list_is_served_by_an_index_and_reads_a_page_not_the_table(arguments):
    emptied("toa_delay")
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO toa_delay (id, endpoint, request, due_at, wake_at, attempt, strikes, chain, created_at,"
            " source, entity) SELECT gen_random_uuid(), (ARRAY[%s, 'a.b.c', 'x.y.z'])[1 + n %% 3], '{}', at, at, 0, 0,"
            " '{}', at, 'delay', 'components.tallies:' || n %% 2000"
            " FROM generate_series(1, 30000) AS n,"
            " LATERAL (SELECT '2026-01-05T12:00:00Z'::timestamptz + n * interval '1 s' AS at) AS moment",
            [REPORT],
        )
        cursor.execute("ANALYZE toa_delay")
        with CaptureQueriesContext(connection) as sent:
            assert toa("delays", "list", "--limit", 20, *arguments).code == 0
        (listing,) = [one["sql"] for one in sent.captured_queries if "ORDER BY" in one["sql"] and ".*" in one["sql"]]
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS) {listing}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "Seq Scan" not in plan, plan
    read = next(line for line in plan.splitlines() if "Buffers:" in line)
    assert sum(int(part.partition("=")[2]) for part in read.split() if part.startswith(("hit=", "read="))) < 250, plan


# -- show ------------------------------------------------------------------------------------------------------


def test_show_tells_of_a_call_that_waits(tally, toa_clock):
    identity = arm("1h", overdue=5000)
    data = toa("delays", "show", identity, "--json").data
    assert (data["call"]["id"], data["call"]["overdue_ms"]) == (identity, 5000)
    assert (data["failure"], data["history"]) == (None, [])
    text = toa("delays", "show", identity).text
    assert f"{REPORT}: a delay, waiting" in text
    assert "2026-01-05 13:00:00 UTC, in 1h" in text
    assert "when 5s late" in text


def test_show_tells_what_became_of_a_call(toa_clock):
    made, failing = arm(0), api.delay(REPORT, {"input": {"fail": 99}}, interval="1h", overdue=None)
    toa_clock.advance("2h")
    data = toa("delays", "show", made, "--json").data
    assert data["call"] is None
    assert [(line["outcome"], line["attempt"]) for line in data["history"]] == [("made", 1)]
    assert f"{REPORT} is settled: made" in toa("delays", "show", made).text
    data = toa("delays", "show", failing, "--json").data
    assert data["failure"]["id"] == Failure.objects.get().id.hex
    assert f"toa failures show {Failure.objects.get().id.hex}" in toa("delays", "show", failing).text


def test_show_of_an_id_that_nobody_knows_is_a_no():
    said = toa("delays", "show", "0" * 32)
    assert (said.code, said.text.startswith("No call 0000")) == (1, True)
    assert toa("delays", "show", "0" * 32, "--json").code == 1


# -- cancel, move, fire ----------------------------------------------------------------------------------------


def test_cancel_answers_for_each_and_exits_with_1_where_one_was_not_cancelled(toa_clock):
    first, second, made = arm("1h"), arm("2h"), arm(0)
    toa_clock.run_until_idle()
    assert toa("delays", "cancel", first, "--by", "anna").text == f"{first}: cancelled\n"
    said = toa("delays", "cancel", first, second, made, "f" * 32, "--json")
    assert said.code == 1
    assert [(one["answer"], one["done"]) for one in said.data["results"]] == [
        ("already cancelled", False),
        ("cancelled", True),
        ("already made", False),
        (None, False),
    ]
    assert "never issued" in said.data["results"][3]["error"]
    assert History.objects.get(call=UUID(first)).code == "by anna"
    toa_clock.advance("3h")
    assert len(report.CALLS) == 1


@pytest.mark.parametrize(
    ("when", "due"),
    [
        (("--in", "2h"), 2 * HOUR),
        (("--at", "1767625200000"), 3 * HOUR),
        (("--at", "2026-01-05T16:00:00+01:00"), 3 * HOUR),
        (("--at", "2026-01-05T15:00:00Z"), 3 * HOUR),
    ],
)
def test_move_gives_another_moment(toa_clock, when, due):
    identity = arm("1h")
    assert toa("delays", "move", identity, *when).text == f"{identity}: moved\n"
    assert Delay.objects.get().due_at == to_datetime(toa_clock.now + due)


@pytest.mark.parametrize("when", [(), ("--in", "2h", "--at", "5"), ("--at", "2026-01-05T15:00:00"), ("--at", "noon")])
def test_a_move_to_no_moment_is_refused_and_moves_nothing(toa_clock, when):
    identity = arm("1h")
    assert toa("delays", "move", identity, *when).code != 0
    assert Delay.objects.get().due_at == to_datetime(toa_clock.now + HOUR)


def test_fire_has_it_made_at_the_next_pass(toa_clock):
    identity = arm("24h")
    assert toa("delays", "fire", identity).text == f"{identity}: fired\n"
    toa_clock.run_until_idle()
    assert len(report.CALLS) == 1
    assert toa("delays", "fire", identity).code == 1


def test_the_login_name_stands_where_no_other_is_given(monkeypatch, toa_clock):
    monkeypatch.setenv("LOGNAME", "greta")
    identity = arm("1h")
    toa("delays", "cancel", identity)
    assert History.objects.get(call=UUID(identity)).code == "by greta"
