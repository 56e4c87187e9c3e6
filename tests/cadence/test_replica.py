"""Pulses of scope `replica`: each process calls by itself, from its first boundary on, and nothing is made up."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import OperationalError

from shop.children import Child, end_all, manage, worker
from tests.components.beacons.operations import glow
from toa.cadence.actions import operating
from toa.cadence.declared import in_force
from toa.cadence.pulses.replica import Replica
from toa.cadence.sources import horizon
from toa.core.clock import to_datetime
from toa.models import History, Pulse

GLOW = "components.beacons.glow"
SECOND = 1000
WITHIN_S = 45.0


def pulse():
    return Pulse.objects.get(endpoint=GLOW)


def lines():
    return list(History.objects.filter(endpoint=GLOW).order_by("id").values_list("outcome", "count"))


@pytest.mark.django_db
class TestOneProcess:
    @pytest.fixture
    def replica(self, toa_clock):
        """The pulse as this process calls it, started between two boundaries."""
        glow.CALLS.clear()
        glow.DURING.clear()
        toa_clock.set(toa_clock.now + 300)
        (declared,) = (one for one in in_force().pulses if one.endpoint == GLOW)
        return Replica(declared, toa_clock.now)

    def turn(self, replica, clock):
        """What its thread does: wait for the boundary, and turn."""
        clock.set(replica.next)
        replica.turn(clock.now)

    def test_the_first_call_is_at_the_first_boundary_after_the_process_started(self, replica, toa_clock):
        start = toa_clock.now - 300
        replica.turn(toa_clock.now)
        assert glow.CALLS == []
        assert replica.next == start + SECOND
        for _ in range(3):
            self.turn(replica, toa_clock)
        assert [(call["due"], call["i"], call["n"]) for call in glow.CALLS] == [
            (start + SECOND, 1, 2),
            (start + 2 * SECOND, 0, 2),
            (start + 3 * SECOND, 1, 2),
        ]
        assert lines() == [("made", 1)] * 3
        assert len({call["key"] for call in glow.CALLS}) == 3

    def test_no_worker_is_asked_to_call_it(self, replica, toa_clock):
        assert pulse().scope == "replica"
        assert pulse().wake_at is None
        Pulse.objects.exclude(endpoint=GLOW).update(wake_at=None)
        toa_clock.advance(10 * SECOND)
        assert glow.CALLS == []
        assert horizon().due is None

    def test_boundaries_that_a_frozen_process_slept_over_are_not_made_up(self, replica, toa_clock):
        toa_clock.set(replica.next + 5 * SECOND + 600)
        replica.turn(toa_clock.now)
        assert glow.CALLS == []
        assert lines() == [("missed", 6)]
        self.turn(replica, toa_clock)
        assert len(glow.CALLS) == 1

    def test_boundaries_that_pass_while_it_runs_are_skipped(self, replica, toa_clock):
        glow.DURING.append(lambda: toa_clock.set(toa_clock.now + 3 * SECOND))
        self.turn(replica, toa_clock)
        assert lines() == [("made", 1), ("skipped", 3)]
        assert replica.next == toa_clock.now + SECOND

    def test_a_failure_is_recorded_and_the_next_boundary_is_normal(self, replica, toa_clock):
        glow.DURING.append(lambda: 1 / 0)
        self.turn(replica, toa_clock)
        self.turn(replica, toa_clock)
        assert lines() == [("failed", 1), ("made", 1)]

    def test_a_line_that_cannot_be_written_is_no_reason_to_call_again(self, replica, toa_clock, monkeypatch):
        def lost(*_):
            raise OperationalError("the database is gone")

        with monkeypatch.context() as patched:
            patched.setattr("toa.cadence.pulses.boundaries.write_history", lost)
            with pytest.raises(OperationalError):
                self.turn(replica, toa_clock)
        replica.turn(toa_clock.now + 1)
        assert len(glow.CALLS) == 1
        self.turn(replica, toa_clock)
        assert len(glow.CALLS) == 2
        assert lines() == [("made", 1)]

    def test_two_processes_have_two_keys_for_one_boundary(self, replica, toa_clock, monkeypatch):
        monkeypatch.setattr("toa.cadence.pulses.replica.os.getpid", lambda: 1)
        (declared,) = (one for one in in_force().pulses if one.endpoint == GLOW)
        other = Replica(declared, toa_clock.now)
        self.turn(replica, toa_clock)
        other.turn(toa_clock.now)
        first, second = glow.CALLS
        assert first["due"] == second["due"]
        assert first["key"] != second["key"]
        assert len({line.cause["process"] for line in History.objects.filter(endpoint=GLOW)}) == 2

    def test_paused_it_is_called_by_no_process_and_resumed_by_each_at_its_next_boundary(self, replica, toa_clock):
        assert operating.fire(pulse(), "anna") == "each process calls it by itself"
        assert operating.pause(pulse(), "anna") == "paused"
        self.turn(replica, toa_clock)
        self.turn(replica, toa_clock)
        assert (glow.CALLS, lines()) == ([], [])
        assert operating.resume(pulse(), "anna") == "resumed"
        assert pulse().wake_at is None
        self.turn(replica, toa_clock)
        assert len(glow.CALLS) == 1

    def test_one_that_a_newer_release_retired_is_called_no_more(self, replica, toa_clock):
        Pulse.objects.filter(endpoint=GLOW).update(retired_at=to_datetime(toa_clock.now))
        self.turn(replica, toa_clock)
        assert glow.CALLS == []


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
class TestProcesses:
    @pytest.fixture
    def start(self, process_environment: dict[str, str], tmp_path: Path) -> Iterator[Callable[..., Child]]:
        environment = {**process_environment, "DJANGO_SETTINGS_MODULE": "tests.settings"}
        children: list[Child] = []

        def start(name: str, command: list[str]) -> Child:
            children.append(Child(name, command, environment=environment, log=tmp_path / f"{name}.log"))
            return children[-1]

        yield start
        end_all(children)

    @pytest.mark.parametrize(
        ("pool", "processes"), [("prefork", 3), ("threads", 1), ("solo", 1)], ids=["prefork", "threads", "solo"]
    )
    def test_P7_each_worker_process_calls_at_each_boundary(self, start, pool, processes):
        child = start(pool, [*worker(pool, "toa.calls", 3), "--pool", pool])
        self.wait_until_called_by(processes, child)

    def test_P7_toa_run_calls_too(self, start):
        self.wait_until_called_by(1, start("run", manage("toa", "run")))

    def wait_until_called_by(self, processes: int, child: Child) -> None:
        """Wait until some boundary was called by so many processes, and see that none called it twice."""
        give_up = time.monotonic() + WITHIN_S
        while True:
            callers: dict[object, list[str]] = {}
            for due, cause in History.objects.filter(endpoint=GLOW, outcome="made").values_list("due_at", "cause"):
                callers.setdefault(due, []).append(cause["process"])
            assert all(len(set(called)) == len(called) for called in callers.values())
            if any(len(called) == processes for called in callers.values()):
                break
            assert not child.is_over(), child.last_words()
            assert time.monotonic() < give_up, f"{callers}\n{child.last_words()}"
        assert max(len(called) for called in callers.values()) == processes
        if child.name == "prefork":
            every = {process for called in callers.values() for process in called}
            assert not any(process.endswith(f":{child.pid}") for process in every), "the parent runs no calls"
