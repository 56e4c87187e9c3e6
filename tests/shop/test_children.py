"""Starting, watching and ending processes: none is left, whatever happens."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from shop.children import Child, Stopped, Stopping, end_all
from shop.supervising import Supervisor

pytestmark = pytest.mark.processes

SLEEP = ["-c", "import time; time.sleep(60)"]
DEAF = ["-c", "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"]
PARENT = ["-c", "import subprocess, sys; print(subprocess.Popen(['sleep', '60']).pid, flush=True); sys.stdin.read()"]
WITHIN_S = 30.0


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Child]]:
    children: list[Child] = []

    def start(command: list[str], name: str = "child") -> Child:
        child = Child(name, command, environment=dict(os.environ), log=tmp_path / f"{name}-{len(children)}.log")
        children.append(child)
        return child

    yield start
    for child in children:
        child.kill()


def test_a_child_that_is_asked_ends_by_its_signal(start):
    child = start(SLEEP)
    end_all([child])

    assert child.is_over()
    assert child.end() == -signal.SIGTERM
    assert not psutil.pid_exists(child.pid)


def test_one_that_does_not_listen_is_killed(start, monkeypatch):
    monkeypatch.setattr("shop.children.PATIENCE_S", 0.3)
    child = start(DEAF)
    wait_for(lambda: "deaf" in child.last_words())
    end_all([child])

    assert child.end() == -signal.SIGKILL


def test_what_a_dead_child_has_started_dies_with_it(start):
    child = start(["-c", PARENT[1].replace("sys.stdin.read()", "sys.exit(3)")])
    wait_for(child.is_over)
    orphan = int(child.last_words())
    assert psutil.pid_exists(orphan)

    assert child.end() == 3
    wait_for(lambda: not psutil.pid_exists(orphan) or psutil.Process(orphan).status() == psutil.STATUS_ZOMBIE)


def test_a_second_interrupt_does_not_leave_anybody(start, monkeypatch):
    child = start(DEAF)
    wait_for(lambda: "deaf" in child.last_words())

    def interrupted(seconds: float) -> None:
        raise Stopped("SIGINT")

    monkeypatch.setattr("shop.children.time.sleep", interrupted)
    with pytest.raises(Stopped):
        end_all([child])
    assert child.is_over()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_being_asked_to_end_can_be_caught_and_only_while_it_is_wanted(number):
    before = signal.getsignal(number)
    with pytest.raises(Stopped, match=number.name), Stopping():
        os.kill(os.getpid(), number)

    assert signal.getsignal(number) is before


def test_a_child_that_dies_starts_again_later_each_time_and_it_is_said(start, monkeypatch):
    monkeypatch.setattr("shop.supervising.FIRST_S", 0.05)
    said: list[str] = []
    supervisor = Supervisor(say=said.append)
    started: list[Child] = []

    def again() -> Child:
        started.append(start(["-c", "raise SystemExit(3)"], "web"))
        return started[-1]

    supervisor.keep("web", again)

    def three_times() -> bool:
        supervisor.look()
        return len(started) == 3

    wait_for(three_times)
    supervisor.end()

    assert [sentence.partition(";")[0] for sentence in said] == ["web ended by itself (exit status 3) after 0 s"] * 2
    assert "it starts again in 1 s" in said[0]
    assert "it starts again in 2 s" in said[1]
    assert all(child.is_over() for child in started)


def wait_for(fact: Callable[[], bool]) -> None:
    give_up = time.monotonic() + WITHIN_S
    while not fact():
        assert time.monotonic() < give_up, "it did not happen in time"
