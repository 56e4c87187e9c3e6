"""What people do about failures: retry and discard, by two of them at once, and where the code has changed."""

from uuid import UUID

import pytest

import toa
from tests.components.ledgers.models import Ledger
from tests.components.ledgers.operations import note
from tests.components.tallies.models import Tally
from tests.components.tallies.operations import report
from tests.deploying import deployed
from tests.together import together
from toa.cadence.actions import failures
from toa.cadence.reports import failed
from toa.core.clock import to_datetime
from toa.exceptions import NotFound
from toa.models import Delay, Delivery, Failure, History
from toa.runtime import bindings

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_else")]

TALLIES, LEDGERS = "components.tallies", "components.ledgers"


def reporting(toa_clock, fail=3):
    """A report that fails for good after its three tries."""
    identity = toa.delay(f"{TALLIES}.report", {"input": {"fail": fail}}, interval=0, overdue=0)
    toa_clock.advance("1m")
    assert (len(report.CALLS), Failure.objects.count()) == (3, 1)
    return identity


def outcomes(identity):
    return [(line.outcome, line.code) for line in History.objects.filter(call=UUID(identity)).order_by("id")]


def test_a_retry_is_the_same_call_under_the_same_key_with_its_tries_counted_afresh(toa_clock):
    identity = reporting(toa_clock, fail=5)
    assert failures.retry(Failure.objects.get().id, "anna") == "tried again"
    row = Delay.objects.get()
    assert (row.id.hex, row.attempt, row.cause["retried_by"]) == (identity, 0, "anna")
    toa_clock.advance("1m")
    assert len(report.CALLS) == 6, "it failed twice more, and worked"
    assert {call["key"] for call in report.CALLS} == {identity}
    assert Failure.objects.count() == 0
    assert [outcome for outcome, _ in outcomes(identity)] == ["failed", "made"]


def test_a_retry_that_fails_again_is_a_failure_again(toa_clock):
    identity = reporting(toa_clock, fail=99)
    first = Failure.objects.get().id
    failures.retry(first, "anna")
    toa_clock.advance("1m")
    second = Failure.objects.get()
    assert second.id != first
    assert (second.call.hex, second.attempts) == (identity, 3)


def test_discarded_it_is_gone_for_good(toa_clock):
    identity = reporting(toa_clock)
    assert failures.discard(Failure.objects.get().id, "anna") == "discarded"
    toa_clock.advance("1h")
    assert (len(report.CALLS), Delay.objects.count(), Failure.objects.count()) == (3, 0, 0)
    assert outcomes(identity)[-1] == ("cancelled", "discarded, by anna")
    assert toa.delay.cancel(identity) == "already cancelled"


def test_a_retry_of_what_was_decided_already_is_refused(toa_clock):
    reporting(toa_clock)
    failure = Failure.objects.get().id
    failures.retry(failure, "anna")
    for act in (failures.retry, failures.discard):
        with pytest.raises(NotFound, match="decided it already"):
            act(failure, "ben")
    assert Delay.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("acts", [(failures.retry, failures.retry), (failures.retry, failures.discard)])
def test_of_two_operators_at_once_one_is_refused(toa_clock, acts):
    for _ in range(10):
        report.CALLS.clear()
        identity = reporting(toa_clock)
        failure = Failure.objects.get().id
        answers = together(2, lambda i: acts[i](failure, f"operator {i}"))  # noqa: B023
        refused = [answer for answer in answers if isinstance(answer, NotFound)]
        assert len(refused) == 1
        won = answers[0] if answers[1] is refused[0] else answers[1]
        toa_clock.run_until_idle()
        assert (Failure.objects.count(), Delay.objects.count()) == (0, 0)
        assert len(report.CALLS) == (4 if won == "tried again" else 3)
        assert len(outcomes(identity)) == 2


@pytest.mark.parametrize(
    ("act", "lines"),
    [
        (failures.retry, ["1 created", "2 updated to 1", "3 updated to 2"]),
        (failures.discard, ["1 created", "3 updated to 2"]),
    ],
)
def test_what_parked_behind_a_failed_delivery_goes_on(toa_clock, monkeypatch, act, lines):
    tally = toa.call(f"{TALLIES}.create", {"name": "first"})["id"]
    toa_clock.run_until_idle()

    def broken(input, entry, context):
        raise ValueError("the ledger is shut")

    monkeypatch.setattr(bindings.operation(f"{LEDGERS}.note"), "function", broken)
    toa.call(f"{TALLIES}.add", {"by": 1}, id=tally)
    toa.call(f"{TALLIES}.add", {"by": 1}, id=tally)
    toa_clock.run_until_idle()
    failure = Failure.objects.get()
    assert failures.parked_behind(failure) == 1
    monkeypatch.setattr(bindings.operation(f"{LEDGERS}.note"), "function", note.transition)
    toa_clock.run_until_idle()
    assert Ledger.objects.get(id=tally).lines == ["1 created"], "nothing passes a failure that nobody decided"
    act(failure.id, "anna")
    toa_clock.run_until_idle()
    assert Ledger.objects.get(id=tally).lines == lines
    assert Delivery.objects.count() == 0


def test_a_retry_of_a_removed_operation_lets_the_call_go_and_says_so(toa_clock):
    identity = reporting(toa_clock)
    with deployed(without=f"{TALLIES}.report"):
        assert failures.retry(Failure.objects.get().id, "anna") == "let go: the operation was removed"
    assert (Delay.objects.count(), Failure.objects.count()) == (0, 0)
    assert outcomes(identity)[-1] == ("cancelled", "the operation was removed, by anna")


def test_a_retry_of_a_delivery_to_a_removed_operation_lets_the_pair_go_on(toa_clock, monkeypatch):
    tally = toa.call(f"{TALLIES}.create", {"name": "first"})["id"]
    toa_clock.run_until_idle()
    monkeypatch.setattr(bindings.operation(f"{LEDGERS}.note"), "function", None)
    toa.call(f"{TALLIES}.add", {"by": 1}, id=tally)
    toa_clock.run_until_idle()
    failure = Failure.objects.get()
    with deployed(without=LEDGERS):
        assert failures.retry(failure.id, "anna").startswith("let go")
    toa.call(f"{TALLIES}.add", {"by": 1}, id=tally)
    toa_clock.run_until_idle()
    assert Ledger.objects.get(id=tally).lines == ["1 created", "3 updated to 2"]
    assert Tally.objects.get().count == 2


def test_failures_are_paged_oldest_first_and_each_is_met_once(toa_clock):
    for endpoint in ("a.b.c", "x.y.z"):
        for minute in range(7):
            moment = to_datetime(toa_clock.now + minute // 2 * 60_000)
            Failure.objects.create(
                call=UUID(int=minute),
                source="delay",
                endpoint=endpoint,
                error="no",
                attempts=1,
                due_at=moment,
                at=moment,
                row={},
            )
    whole = [(one.at, one.id) for one in failed.page().failures]
    assert whole == sorted(whole)
    assert len(whole) == 14
    met, mark = [], None
    while True:
        page = failed.page(limit=3, after=mark)
        met += [(one.at, one.id) for one in page.failures]
        mark = page.after
        if mark is None:
            break
    assert met == whole
    assert {one.endpoint for one in failed.page(endpoint="x.y.z").failures} == {"x.y.z"}
    later = toa_clock.now + 600_000
    assert list(failed.identities(endpoint=None, until=later, limit=None)) == [identity for _, identity in whole]
    assert list(failed.identities(endpoint=None, until=later, limit=5)) == [identity for _, identity in whole[:5]]
    assert len(list(failed.identities(endpoint="a.b.c", until=toa_clock.now, limit=None))) == 2
