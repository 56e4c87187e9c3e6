"""Two nodes and one backlog: what one of them holds, the other passes over, and fires what comes after it."""

import threading
from contextlib import contextmanager

import pytest
from django.db import connection, transaction

import toa
from tests.components.tallies.models import Tally
from toa.cadence.calls import guarding, suspects
from toa.cadence.calls.due import DELAYS, StoredCalls
from toa.cadence.passes import Collected
from toa.models import Delay, Failure, History, Process
from toa.testing.crashes import Crash

pytestmark = pytest.mark.django_db(transaction=True)

TALLIES = "components.tallies"
QUOTA = 10
# Statements of the first node's pass: locking its calls, before it tells of them; and noting what became of them.
CLAIMS, SETTLES = "lock_timeout", "INSERT INTO toa_history"


@pytest.fixture(autouse=True)
def served(served, settings):
    """Each thread serves, and fires sets."""
    settings.TOA = {**settings.TOA, "SETWISE": True}


@pytest.fixture
def backlog(toa_clock):
    """Three quotas of calls, each on an object of its own, long due; their ids, the oldest first."""
    with transaction.atomic():
        tallies = [toa.call(f"{TALLIES}.create", {"name": f"t{number}"})["id"] for number in range(3 * QUOTA)]
    toa_clock.run_until_idle()
    with transaction.atomic():
        armed = [
            toa.delay(f"{TALLIES}.add", {"query": {"id": identity}, "input": {"by": 1}}, interval=1, overdue=None)
            for identity in tallies
        ]
    toa_clock.set(toa_clock.now + 60_000)
    return armed


class Second:
    """The second node: a thread with a connection, a docket and a watermark of its own."""

    def __init__(self):
        self.source = StoredCalls(DELAYS.kind)
        self.sent = []

    def step(self):
        """One step beside this thread, which waits for its end."""
        steps = []

        def run():
            try:
                with connection.execute_wrapper(self._noted):
                    steps.append(self.source.step(QUOTA, Collected()))
            finally:
                suspects.close()
                connection.close()

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        (self.last,) = steps
        return self.last

    def _noted(self, execute, sql, params, many, context):
        self.sent.append(sql)
        return execute(sql, params, many, context)


@contextmanager
def before(words, act):
    """Do something, once, just before this thread sends a statement with these words."""
    waiting = [act]

    def wrap(execute, sql, params, many, context):
        if words in sql and waiting:
            waiting.pop()()
        return execute(sql, params, many, context)

    with connection.execute_wrapper(wrap):
        yield
    assert not waiting


def made():
    return {call.hex for call in History.objects.filter(source="delay", outcome="made").values_list("call", flat=True)}


@pytest.mark.parametrize("moment", [CLAIMS, SETTLES])
def test_D9_a_node_fires_what_comes_after_what_another_one_holds(backlog, moment):
    second = Second()
    with before(moment, second.step):
        first = DELAYS.step(QUOTA, Collected())
    assert (first.settled, second.last.settled) == (QUOTA, QUOTA)
    assert made() == set(backlog[: 2 * QUOTA])
    claims = [sql for sql in second.sent if "FOR UPDATE" in sql and "WHERE c.id = %s" in sql]
    assert len(claims) <= guarding.PATIENT, "what another node is making is not tried one by one"
    assert DELAYS.step(QUOTA, Collected()).settled == QUOTA
    assert set(Tally.objects.values_list("count", flat=True)) == {1}
    assert (Delay.objects.count(), Failure.objects.count()) == (0, 0)
    assert not Process.objects.exclude(running=[]).exists()


def test_D17_what_another_node_held_is_not_passed_by_the_watermark(backlog):
    """The first node dies of it: the second one finds its calls where it left them."""
    second = Second()

    def die():
        second.step()
        raise Crash

    with pytest.raises(Crash), before(SETTLES, die):
        DELAYS.step(QUOTA, Collected())
    assert made() == set(backlog[QUOTA : 2 * QUOTA])
    second.step()
    assert made() == set(backlog[: 2 * QUOTA])


def test_D9_a_long_transaction_over_the_oldest_calls_holds_up_no_others(backlog):
    beside = connection.copy()
    try:
        beside.set_autocommit(False)
        with beside.cursor() as cursor:
            cursor.execute("SELECT 1 FROM toa_delay ORDER BY wake_at, id LIMIT %s FOR UPDATE", [QUOTA])
        step = DELAYS.step(QUOTA, Collected())
        assert step.settled == QUOTA
        assert made() == set(backlog[QUOTA : 2 * QUOTA])
    finally:
        beside.close()
