"""A step of a drain that takes its process with it: the instance stops again, and nobody runs it for ever."""

import pytest

import toa
from tests.components.claims.models import Claim
from toa.cadence.actions.failures import retry
from toa.cadence.deadlines.draining import _call
from toa.core.clock import to_datetime
from toa.core.deadlines import Reached
from toa.models import Failure, Process, Pulse, Schedule
from toa.runtime import bindings

pytestmark = pytest.mark.django_db(transaction=True)

CLAIMS = "components.claims"


def test_D16_a_step_whose_process_died_stops_the_instance_again(toa_clock, served):
    for model in (Pulse, Schedule):
        model.objects.update(wake_at=None, paused_at=to_datetime(toa_clock.now))
    claim = "1" * 32
    toa.call(f"{CLAIMS}.set", {"a": toa_clock.now, "mode": "broken"}, id=claim)
    toa_clock.run_until_idle()
    toa.call(f"{CLAIMS}.set", {"mode": None}, id=claim)
    retry(Failure.objects.get().id, by="ann")
    component = bindings.component(CLAIMS)
    state = component.table.fetch([claim])[claim]
    call = _call(component, state, Reached(toa_clock.now, "a"))
    moment = to_datetime(toa_clock.now)
    Process.objects.create(
        id="0" * 32, kind="pass", host="gone", pid=1, started_at=moment, seen_at=moment, running=[call]
    )
    toa_clock.run_until_idle()
    failure = Failure.objects.get()
    assert "the process died running it" in failure.error
    assert Claim.objects.get().clock_state == "failed"
    assert Process.objects.get(host="gone").running == [], "the evidence is used up"
    retry(failure.id, by="ann")
    toa_clock.run_until_idle()
    assert (Claim.objects.get().clock_state, Claim.objects.get().a) == (None, None)
    assert not Failure.objects.exists()
