"""The session that a worker's child keeps for its passes, whatever Celery closes between its tasks."""

import pytest
from django.db import connection, connections

from toa import tasks
from toa.cadence import serving
from toa.cadence.calls import suspects
from toa.cadence.sessions import end_session

pytestmark = pytest.mark.django_db(transaction=True)


def backend():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid(), current_setting('idle_in_transaction_session_timeout')")
        return cursor.fetchone()


@pytest.fixture
def sessions(monkeypatch):
    """The sessions of passes, one after another: each by its process number and one of its settings."""
    seen = []
    monkeypatch.setattr(serving, "_serving", False)
    monkeypatch.setattr(tasks, "run_pass", lambda *_, **__: seen.append(backend()))
    yield seen
    suspects.close()
    end_session()


def as_a_task():
    """Make a tick as a worker does, which closes Django's connections before and after."""
    connections.close_all()
    tasks.tick.push_request(called_directly=False, is_eager=False)
    try:
        tasks.tick()
    finally:
        tasks.tick.pop_request()
        connections.close_all()


def test_ticks_of_a_worker_share_a_session_that_is_not_that_of_other_tasks(sessions):
    as_a_task()
    as_a_task()
    assert sessions[0] == sessions[1]
    assert sessions[0][1] == "10s"
    assert backend() not in sessions


def test_a_tick_called_as_a_function_works_on_its_callers_session(sessions):
    own, _ = backend()
    tasks.tick()
    assert [pid for pid, _ in sessions] == [own]


def test_a_session_that_the_database_ended_is_replaced_before_the_next_tick(sessions):
    as_a_task()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [sessions[0][0]])
        assert cursor.fetchone() == (True,)
    as_a_task()
    assert sessions[0][0] != sessions[1][0]
    assert sessions[1][1] == "10s"


def test_a_tick_that_raised_leaves_no_session_to_the_next_one(sessions, monkeypatch):
    as_a_task()
    with monkeypatch.context() as broken:
        broken.setattr(tasks, "run_pass", lambda *_, **__: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            as_a_task()
    as_a_task()
    assert sessions[0][0] != sessions[1][0]
