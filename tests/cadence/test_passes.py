"""A pass goes on, whatever one call does to it."""

import pytest

import toa
from tests.components.tallies.models import Tally
from toa.cadence.calls import firing, settling
from toa.models import Delay, History

pytestmark = pytest.mark.django_db

TALLIES = "components.tallies"


def test_a_call_that_cannot_be_settled_does_not_hold_up_the_others(toa_clock, monkeypatch, caplog):
    tallies = [toa.call(f"{TALLIES}.create", {"name": name})["id"] for name in ("first", "second")]
    toa_clock.run_until_idle()
    bad = {"query": {"id": tallies[0]}, "input": {"what": "invalid"}}
    toa.delay(f"{TALLIES}.meddle", bad, interval=0, overdue=None)
    toa.delay(f"{TALLIES}.add", {"query": {"id": tallies[1]}, "input": {"by": 3}}, interval=0, overdue=None)

    def unsettled(*_):
        raise LookupError("the recorder is broken")

    with monkeypatch.context() as broken:
        broken.setattr(firing, "settle_error", unsettled)
        broken.setattr("toa.cadence.calls.batches.settle_error", unsettled)
        with pytest.raises(RuntimeError, match="still not idle"):
            toa_clock.run_until_idle(limit=3)
    assert Tally.objects.get(id=tallies[1]).count == 3
    assert [record.levelname for record in caplog.records if "could not be settled" in record.message][:1] == ["ERROR"]
    assert Delay.objects.count() == 1, "it is not lost"
    assert firing.settle_error is settling.settle_error
    toa_clock.run_until_idle()
    assert History.objects.filter(endpoint=f"{TALLIES}.meddle", outcome="failed").count() == 1
