"""`manage.py toa failures`."""

from uuid import UUID

import pytest

import toa as api
from tests.commands.saying import toa
from toa.models import Delay, Failure, History

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_else")]

TALLIES = "components.tallies"
REPORT, MEDDLE = f"{TALLIES}.report", f"{TALLIES}.meddle"


@pytest.fixture
def failed(toa_clock):
    """The ids of three failures, oldest first: of a report, of a meddler and of a report."""
    tally = api.call(f"{TALLIES}.create", {"name": "first"})["id"]
    calls = []
    for endpoint, request in (
        (REPORT, {"input": {"fail": 99}}),
        (MEDDLE, {"query": {"id": tally}, "input": {"what": "unknown"}}),
        (REPORT, {"input": {"fail": 99}}),
    ):
        calls.append(api.delay(endpoint, request, interval=0, overdue=None))
        toa_clock.advance("5m")
    return [Failure.objects.get(call=UUID(call)).id.hex for call in calls]


def answers(said):
    return [(one["answer"], one["done"]) for one in said.data["results"]]


def test_the_list_is_oldest_first_with_cause_and_attempts(failed, toa_clock):
    data = toa("failures", "list", "--json").data
    assert [one["id"] for one in data["failures"]] == failed
    assert [(one["endpoint"], one["attempts"]) for one in data["failures"]] == [(REPORT, 3), (MEDDLE, 1), (REPORT, 3)]
    assert data["failures"][0]["error"] == "Transient: not yet"
    assert [one["id"] for one in toa("failures", "list", "--endpoint", MEDDLE, "--json").data["failures"]] == failed[
        1:2
    ]
    assert f"{REPORT}  " in toa("failures", "list").text
    first = toa("failures", "list", "--limit", 2, "--json").data
    rest = toa("failures", "list", "--limit", 2, "--after", first["after"], "--json").data
    assert [one["id"] for one in first["failures"] + rest["failures"]] == failed
    assert rest["after"] is None


def test_show_has_the_traceback_and_is_found_by_the_call_too(failed):
    data = toa("failures", "show", failed[1], "--json").data
    assert "Traceback" in data["traceback"]
    assert (data["parked_behind"], data["request"]["input"]) == (0, {"what": "unknown"})
    assert toa("failures", "show", data["call"], "--json").data == data
    text = toa("failures", "show", failed[1]).text
    assert text.startswith(f"{MEDDLE}: ")
    assert "Traceback" in text
    assert toa("failures", "show", "0" * 32).code == 1


def test_retry_of_some_answers_for_each(failed, toa_clock):
    said = toa("failures", "retry", failed[0], failed[1], "--by", "anna", "--json")
    assert (said.code, answers(said)) == (0, [("tried again", True)] * 2)
    said = toa("failures", "retry", failed[0], failed[2], "--json")
    assert said.code == 1
    assert answers(said) == [(None, False), ("tried again", True)], "somebody decided the first one already"
    assert {row.cause["retried_by"] for row in Delay.objects.filter(endpoint=MEDDLE)} == {"anna"}


def test_discard_all_of_an_endpoint_leaves_the_others(failed):
    said = toa("failures", "discard", "--all", "--endpoint", REPORT, "--by", "anna")
    assert said.text == f"{failed[0]}: discarded\n{failed[2]}: discarded\n"
    assert [one.id.hex for one in Failure.objects.all()] == [failed[1]]
    assert History.objects.filter(code="discarded, by anna").count() == 2


def test_all_can_be_bounded_and_begins_with_the_oldest(failed):
    assert toa("failures", "discard", "--all", "--limit", 2).code == 0
    assert [one.id.hex for one in Failure.objects.all()] == failed[2:]


def test_what_fails_again_at_once_is_not_met_again(failed, toa_clock):
    said = toa("failures", "retry", "--all", "--json")
    assert len(said.data["results"]) == 3
    toa_clock.run_until_idle()
    toa_clock.advance("5m")
    assert Failure.objects.count() == 3


@pytest.mark.parametrize(
    "arguments", [(), ("--all", "0" * 32), ("0" * 32, "--endpoint", REPORT), ("0" * 32, "--limit", "3")]
)
def test_a_decision_about_nothing_named_is_a_wrong_use(failed, arguments):
    for verb in ("retry", "discard"):
        assert toa("failures", verb, *arguments).code == 2
    assert Failure.objects.count() == 3


def test_a_retry_that_the_projects_code_breaks_is_told_and_leaves_the_failure(toa_clock, monkeypatch):
    from toa.runtime import bindings

    def broken(state, origin):
        raise KeyError("nothing there")

    event = next(one for one in bindings.component(TALLIES).events if one.name == "updated")
    receiver = next(one for one in event.receivers if one.operation.endpoint == "components.ledgers.note")
    monkeypatch.setattr(receiver, "request", broken)
    tally = api.call(f"{TALLIES}.create", {"name": "first"})["id"]
    api.call(f"{TALLIES}.add", {"by": 1}, id=tally)
    toa_clock.run_until_idle()
    failure = Failure.objects.get()
    said = toa("failures", "retry", failure.id.hex)
    assert (said.code, said.text) == (1, f"{failure.id.hex}: KeyError: 'nothing there'\n")
    assert Failure.objects.get().id == failure.id
