"""A crash before and after every statement: what was due is done exactly once, whatever died in the middle."""

import pytest

import toa
from tests.components.ledgers.models import Ledger
from tests.components.tallies.models import Tally
from tests.components.tallies.operations import report
from toa.models import Delay, Delivery, Failure, History
from toa.testing.crashes import everywhere

pytestmark = pytest.mark.django_db(transaction=True)

TALLIES = "components.tallies"


def tally(toa_clock, **more):
    """A tally with nothing waiting."""
    identity = toa.call(f"{TALLIES}.create", {"name": f"t{Tally.objects.count()}", **more})["id"]
    toa_clock.run_until_idle()
    return identity


def test_D5_kill_anywhere_while_a_delay_fires_and_it_is_made_once(toa_clock):
    subjects = []

    def prepare():
        subjects.append(tally(toa_clock))
        toa.call(f"{TALLIES}.arm", {"interval": 0, "by": 5}, id=subjects[-1])
        return toa_clock.run_until_idle

    for place in everywhere(prepare):
        toa_clock.advance("1m")
        row = Tally.objects.get(id=subjects[-1])
        assert (row.count, row.version) == (6, 3), place
        lines = Ledger.objects.get(id=subjects[-1]).lines
        assert lines == ["1 created", "2 updated to 1", "3 updated to 6"], place
        assert History.objects.filter(source="delay", entity=f"{TALLIES}:{subjects[-1]}").count() == 1, place
    assert len(subjects) > 20
    assert (Delay.objects.count(), Delivery.objects.count(), Failure.objects.count()) == (0, 0, 0)


def test_D1_kill_anywhere_while_a_delay_is_armed_and_both_or_neither_are_there(toa_clock):
    subjects = []

    def prepare():
        subjects.append(tally(toa_clock))
        return lambda: toa.call(f"{TALLIES}.arm", {"interval": "1h", "by": 5}, id=subjects[-1])

    seen = set()
    for place in everywhere(prepare):
        armed = Delay.objects.filter(entity=f"{TALLIES}:{subjects[-1]}").count()
        count = Tally.objects.get(id=subjects[-1]).count
        raised = Delivery.objects.filter(source_id=subjects[-1], receiver="components.ledgers").count()
        assert (armed, count, raised) in {(0, 0, 0), (1, 1, 1)}, place
        seen.add(armed)
    assert seen == {0, 1}


def test_D6_kill_anywhere_while_an_effect_runs_and_it_comes_again_with_the_same_key(toa_clock):
    armed = []

    def prepare():
        report.CALLS.clear()
        armed.append(toa.delay(f"{TALLIES}.report", {"input": {}}, interval=0, overdue=None))
        return toa_clock.run_until_idle

    repeated = 0
    for place in everywhere(prepare):
        toa_clock.advance("2m")
        assert len(report.CALLS) in (1, 2), place
        assert len({call["key"] for call in report.CALLS}) == 1, place
        repeated += len(report.CALLS) == 2
        assert list(History.objects.filter(call=armed[-1]).values_list("outcome", flat=True)) == ["made"], place
    assert repeated > 0
    assert (Delay.objects.count(), Failure.objects.count()) == (0, 0)
