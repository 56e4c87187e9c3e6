"""Delays: armed with the state, made once, at their moment."""

import pytest

import toa
from tests.components.tallies.models import Tally
from tests.components.tallies.operations import report
from toa.exceptions import InvalidDuration, InvalidInput, InvalidQuery, NotAllowedHere, UnknownEndpoint
from toa.models import Delay, Failure, History
from toa.runtime import clock

pytestmark = pytest.mark.django_db

TALLIES = "components.tallies"
HOUR = 3_600_000


@pytest.fixture
def tally(toa_clock):
    """The id of a fresh tally, with its first event delivered."""
    identity = toa.call(f"{TALLIES}.create", {"name": "first"})["id"]
    toa_clock.run_until_idle()
    History.objects.all().delete()
    return identity


@pytest.fixture(autouse=True)
def no_reports():
    report.CALLS.clear()


def line():
    """The one line of history about a delay or a send, as the facts that matter."""
    found = History.objects.filter(source__in=("delay", "send")).get()
    return found.outcome, found.code, found.lateness_ms


def test_a_delay_is_made_at_its_moment_and_not_before(tally, toa_clock):
    reply = toa.call(f"{TALLIES}.arm", {"interval": "1h", "by": 5}, id=tally)
    delay = Delay.objects.get()
    assert delay.id.hex == reply.delay
    assert (delay.source, delay.entity, delay.due_at) == ("delay", f"{TALLIES}:{tally}", delay.wake_at)
    toa_clock.advance(HOUR - 1)
    assert Tally.objects.get().count == 1
    toa_clock.advance(1)
    assert Tally.objects.get().count == 6
    assert Delay.objects.count() == 0
    assert line() == ("made", "", 0)
    toa_clock.advance("5m")
    assert Tally.objects.get().count == 6


def test_D2_an_hour_and_a_restart_of_everything_and_it_is_made_once(tally, toa_clock):
    toa.call(f"{TALLIES}.arm", {"interval": "1h", "by": 5}, id=tally)
    toa_clock.set(toa_clock.now + 5 * HOUR)  # nothing ran until four hours after
    toa_clock.run_until_idle()
    toa_clock.run_until_idle()
    assert Tally.objects.get().count == 6
    assert line() == ("made", "", 4 * HOUR)


def test_the_context_never_reads_earlier_than_due(toa_clock):
    moment = toa_clock.now + HOUR
    toa.delay(f"{TALLIES}.report", {"input": {}}, at=moment, overdue=None)
    toa_clock.advance(HOUR)
    assert [(call["due"], call["now"]) for call in report.CALLS] == [(moment, moment)]


@pytest.mark.parametrize(
    ("interval", "due"), [(0, 0), (1, 1), ("90s", 90_000), ("1d12h", 36 * HOUR), (3650 * 24 * HOUR, 3650 * 24 * HOUR)]
)
def test_D11_an_interval_counts_from_now(toa_clock, interval, due):
    toa.delay(f"{TALLIES}.report", {"input": {}}, interval=interval, overdue=None)
    assert int(Delay.objects.get().due_at.timestamp() * 1000) == toa_clock.now + due


@pytest.mark.parametrize("interval", [-1, float("nan"), float("inf"), 1.5, "", "soon", True, "99999d"])
def test_D11_what_is_no_interval_is_refused(toa_clock, interval):
    with pytest.raises(InvalidDuration):
        toa.delay(f"{TALLIES}.report", {"input": {}}, interval=interval, overdue=None)
    assert Delay.objects.count() == 0


@pytest.mark.parametrize(
    ("endpoint", "request_", "error"),
    [
        (f"{TALLIES}.add", {"query": {"id": "0" * 32}, "input": {"by": "x"}}, InvalidInput),
        (f"{TALLIES}.add", {"input": {}}, InvalidQuery),
        (f"{TALLIES}.add", {"query": {"id": "0" * 32}, "inptu": {}}, InvalidInput),
        (f"{TALLIES}.ad", {}, UnknownEndpoint),
        (f"{TALLIES}.observe", {"query": {"id": "0" * 32}}, NotAllowedHere),
    ],
)
def test_D7_a_request_that_the_target_refuses_is_refused_when_armed(toa_clock, endpoint, request_, error):
    with pytest.raises(error):
        toa.delay(endpoint, request_, interval=0, overdue=None)
    assert Delay.objects.count() == 0


def test_a_delay_has_either_an_interval_or_a_moment(toa_clock):
    for when in ({}, {"interval": 0, "at": toa_clock.now}):
        with pytest.raises(InvalidInput, match="either"):
            toa.delay(f"{TALLIES}.report", {"input": {}}, overdue=None, **when)


@pytest.mark.parametrize(("overdue", "outcome"), [(None, "made"), (0, "expired"), (5000, "expired"), (60_000, "made")])
def test_D3_overdue_decides_what_an_outage_leaves(tally, toa_clock, overdue, outcome):
    toa.call(f"{TALLIES}.arm", {"interval": "1h", "by": 5, "overdue": overdue}, id=tally)
    toa_clock.set(toa_clock.now + HOUR + 10_000)
    toa_clock.run_until_idle()
    assert line()[0] == outcome
    assert Tally.objects.get().count == (6 if outcome == "made" else 1)
    assert Delay.objects.count() == 0


@pytest.mark.parametrize("overdue", [None, 0, 5000])
def test_D3_without_an_outage_all_are_made(tally, toa_clock, overdue):
    toa.call(f"{TALLIES}.arm", {"interval": "1h", "by": 5, "overdue": overdue}, id=tally)
    toa_clock.advance("2h")
    assert line()[0] == "made"


def test_D15_arming_again_under_one_key_replaces(tally, toa_clock):
    toa.call(f"{TALLIES}.arm", {"interval": "1h", "by": 5, "key": "payment"}, id=tally)
    toa.call(f"{TALLIES}.arm", {"interval": "3h", "by": 7, "key": "payment"}, id=tally)
    assert Delay.objects.count() == 1
    assert line()[0] == "replaced"
    toa_clock.advance("2h")
    assert Tally.objects.get().count == 2
    toa_clock.advance("1h")
    assert Tally.objects.get().count == 9


def test_an_error_reply_settles_the_call_as_refused(tally, toa_clock):
    toa.delay(f"{TALLIES}.add", {"query": {"id": tally}, "input": {"by": 1001}}, interval="1m", overdue=None)
    toa_clock.advance("1m")
    assert line() == ("refused", "FULL", 0)
    assert (Tally.objects.get().count, Failure.objects.count()) == (0, 0)


def test_a_missing_object_settles_the_call_as_refused(toa_clock):
    toa.delay(f"{TALLIES}.add", {"query": {"id": "0" * 32}, "input": {}}, interval="1m", overdue=None)
    toa_clock.advance("1m")
    assert line() == ("refused", "NOT_FOUND", 0)


def test_a_permanent_error_is_a_failure_at_once(tally, toa_clock):
    toa.delay(f"{TALLIES}.meddle", {"query": {"id": tally}, "input": {"what": "invalid"}}, interval="1m", overdue=None)
    toa_clock.advance("1h")
    failure = Failure.objects.get()
    assert (failure.endpoint, failure.attempts, failure.source) == (f"{TALLIES}.meddle", 1, "delay")
    assert "count" in failure.error
    assert "Traceback" in failure.traceback
    assert line()[0] == "failed"
    assert Delay.objects.count() == 0


def test_a_transient_error_comes_again_with_the_same_key(toa_clock):
    toa.delay(f"{TALLIES}.report", {"input": {"fail": 2}}, interval="1m", overdue=None)
    toa_clock.advance("1m")
    assert len(report.CALLS) == 1
    toa_clock.advance("1m")
    assert len({call["key"] for call in report.CALLS}) == 1
    assert len({call["due"] for call in report.CALLS}) == 1
    first, second, third = [call["now"] for call in report.CALLS]
    assert 900 <= second - first <= 1100
    assert 1800 <= third - second <= 2200
    assert line()[:2] == ("made", "")
    assert History.objects.get(source="delay").attempt == 3


def test_a_transient_error_that_stays_is_a_failure_after_its_attempts(toa_clock):
    toa.delay(f"{TALLIES}.report", {"input": {"fail": 99}}, interval="1m", overdue=None)
    toa_clock.advance("1h")
    assert len(report.CALLS) == 3
    assert (Failure.objects.get().attempts, Delay.objects.count()) == (3, 0)


def test_a_send_is_due_at_once(tally, toa_clock):
    toa.send(f"{TALLIES}.add", {"query": {"id": tally}, "input": {"by": 4}})
    assert Tally.objects.get().count == 0
    toa_clock.run_until_idle()
    assert Tally.objects.get().count == 4
    assert History.objects.filter(source__in=("delay", "send")).get().source == "send"


def test_M16_a_chain_that_enters_an_endpoint_a_third_time_is_refused(toa_clock):
    from toa.core.calling import Call
    from toa.runtime import arming

    call = Call(endpoint="b.c.d", key="k", chain=(f"{TALLIES}.report", "b.c.d", f"{TALLIES}.report"))
    now = clock.clock().now()
    with pytest.raises(NotAllowedHere, match="third time"):
        arming.armed(call, now, f"{TALLIES}.report", {"input": {}}, interval=0)
    assert arming.armed(call, now, f"{TALLIES}.report", {"input": {}}, interval=0, unchained=True).unchained
