"""Beat: the project's own periodic tasks, several beats at once, a lost database link, and few questions when idle."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from threading import Barrier

import psycopg
import pytest
import redis
from django.db import connection
from django_celery_beat import models as beat_models
from django_celery_beat.models import IntervalSchedule, PeriodicTask, PeriodicTasks
from django_celery_beat.schedulers import DatabaseScheduler, ModelEntry

import toa.beat
from config.celery import app
from tests.components.beacons.operations import ping
from tests.together import together
from toa.beat import CadenceScheduler, entries
from toa.cadence import processes
from toa.cadence.pulses.due import PULSES
from toa.cadence.source import Hint
from toa.cadence.tick import TICK
from toa.core.clock import to_datetime, to_moment
from toa.models import Delay, History, Pulse
from toa.runtime import clock
from toa.runtime.clock import SystemClock

PING = "components.beacons.ping"
HOUR = 3_600_000
MINE = "tests.my_own_task"


class Time:
    """The time of Celery, of beat and of toa, which goes on when beat waits."""

    def __init__(self, toa_clock, monkeypatch):
        self._clock = toa_clock
        self._elapsed = 0.0
        self.woken = 0
        monkeypatch.setattr(app, "now", self.now)
        monkeypatch.setattr(ModelEntry, "_default_now", lambda entry: self.now())
        monkeypatch.setattr(beat_models, "now", self.now)
        for module in (toa.beat, processes):
            monkeypatch.setattr(module, "time", self)
        monkeypatch.setattr(toa.beat.Listener, "wait", lambda listener, seconds: self.sleep(seconds))

    def now(self):
        return datetime.fromtimestamp(self._clock.now / 1000, UTC)

    def monotonic(self):
        return self._elapsed

    def time(self):
        return self._clock.now / 1000

    def sleep(self, seconds):
        self.woken += 1
        self._elapsed += max(seconds, 0.001)
        self._clock.set(self._clock.now + max(1, round(seconds * 1000)))
        return False


class Ordinary(SystemClock):
    """A clock that counts as a process's own, and is moved by the test's."""

    def __init__(self, toa_clock):
        super().__init__()
        self._clock = toa_clock

    def now(self):
        return self._clock.now

    def expression(self):
        return f"'{to_datetime(self._clock.now).isoformat()}'::timestamptz"


@pytest.fixture
def time(toa_clock, monkeypatch):
    return Time(toa_clock, monkeypatch)


@pytest.fixture
def broker(broker_url):
    with redis.Redis.from_url(broker_url) as client:
        client.flushdb()
        yield client
        client.flushdb()


@pytest.fixture
def beat(time):
    """Makes beats."""
    made = []

    def make(kind=CadenceScheduler):
        made.append(kind(app=app))
        return made[-1]

    yield make
    for one in made:
        one._finalize.cancel()


def every(seconds, time, name="mine"):
    """A periodic task of the project's own, as somebody made it in django-celery-beat's admin."""
    interval, _ = IntervalSchedule.objects.get_or_create(every=seconds, period=IntervalSchedule.SECONDS)
    return PeriodicTask.objects.create(name=name, task=MINE, interval=interval, last_run_at=time.now())


def sent(broker, queue):
    """The names of the tasks in a queue."""
    return [json.loads(message)["headers"]["task"] for message in broker.lrange(queue, 0, -1)]


def given(broker, queue):
    """The arguments of the tasks in a queue, in the order of sending."""
    bodies = [json.loads(message)["body"] for message in broker.lrange(queue, 0, -1)]
    return [json.loads(base64.b64decode(body))[0] for body in reversed(bodies)]


def until(time, moment, *beats):
    """Let beats work one after another until the moment has passed."""
    while time.now() < moment:
        for one in beats:
            one.tick()


@pytest.mark.django_db(transaction=True)
def test_two_beats_send_each_occurrence_once_and_one_goes_on_alone(beat, time, broker):
    task = every(10, time)
    first, second = beat(), beat()
    began = time.now()
    until(time, began + timedelta(seconds=51), first, second)
    assert sent(broker, "celery") == [MINE] * 5
    until(time, began + timedelta(seconds=102), second)  # the first one was killed
    assert sent(broker, "celery") == [MINE] * 10
    task.refresh_from_db()
    assert task.total_run_count == 10
    assert began + timedelta(seconds=100) <= task.last_run_at <= time.now()


@pytest.mark.django_db(transaction=True)
def test_a_beat_that_was_killed_right_after_sending_leaves_nothing_to_be_sent_again(beat, time, broker):
    every(10, time)
    began = time.now()
    until(time, began + timedelta(seconds=11), beat())
    assert sent(broker, "celery") == [MINE]
    until(time, began + timedelta(seconds=19), beat())
    assert sent(broker, "celery") == [MINE]


@pytest.mark.django_db(transaction=True)
def test_a_task_that_was_changed_in_the_admin_is_sent_by_its_new_interval(beat, time, broker):
    task = every(3600, time)
    one, other = beat(), beat()
    until(time, time.now() + timedelta(seconds=3), one, other)
    task.interval, _ = IntervalSchedule.objects.get_or_create(every=5, period=IntervalSchedule.SECONDS)
    task.save()
    PeriodicTasks.update_changed()
    until(time, time.now() + timedelta(seconds=16), one, other)
    assert sent(broker, "celery") == [MINE] * len(sent(broker, "celery"))
    assert 2 <= len(sent(broker, "celery")) <= 3


@pytest.mark.django_db(transaction=True)
def test_a_beat_whose_database_link_is_cut_goes_on_and_sends_nothing_twice(beat, time, broker):
    every(10, time)
    first, second = beat(), beat()
    began = time.now()
    until(time, began + timedelta(seconds=5), first, second)
    cut_links()
    until(time, began + timedelta(seconds=31), first, second)
    assert sent(broker, "celery") == [MINE] * 3


def cut_links():
    parameters = connection.get_connection_params()
    named = {name: parameters[name] for name in ("dbname", "user", "password", "host", "port") if parameters.get(name)}
    with psycopg.connect(**named, autocommit=True) as session:
        session.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.mark.django_db(transaction=True)
def test_a_plain_database_scheduler_drives_toa_with_an_entry(beat, time, broker, toa_clock, monkeypatch):
    toa_clock.set(round(datetime.now(UTC).timestamp() * 1000))  # the entry counts from when its row was written
    monkeypatch.setitem(app.conf, "beat_schedule", entries())
    every(3600, time)
    plain = beat(DatabaseScheduler)
    began = time.now()
    while time.now() < began + timedelta(seconds=5):
        time.sleep(min(plain.tick(), 1.0))
    ticks = sent(broker, "toa")
    assert ticks == [TICK] * len(ticks)
    assert 4 <= len(ticks) <= 6
    assert sent(broker, "celery") == []
    assert PeriodicTask.objects.filter(name=TICK, task=TICK, enabled=True).exists()  # shown in its admin


@pytest.mark.django_db(transaction=True)
def test_what_is_due_is_ticked_and_what_is_far_is_not(beat, time, broker, toa_clock):
    one = beat()
    identity = toa.delay("components.tallies.report", {"input": {}}, interval="10s", overdue=None)
    began = time.now()
    until(time, began + timedelta(seconds=8.9), one)
    assert sent(broker, "toa") == []
    until(time, began + timedelta(seconds=10.1), one)
    assert sent(broker, "toa")[:1] == [TICK]
    # Sent a little before its moment, it names that, and of what something comes due then.
    due = to_moment(Delay.objects.get(id=identity).due_at)
    assert given(broker, "toa")[0] == [None, ["delay"], due]


@pytest.mark.django_db(transaction=True)
def test_D18_an_idle_beat_asks_at_most_five_questions_a_second(beat, time, broker, toa_clock):
    """Nothing is due for an hour; the project has a periodic task of its own."""
    every(3600, time)
    toa.delay("components.tallies.report", {"input": {}}, interval="1h", overdue=None)
    one = beat()
    one.tick()
    asked = []

    def note(execute, sql, params, many, context):
        asked.append(sql)
        return execute(sql, params, many, context)

    woken, began = time.woken, time.now()
    with clock.use(Ordinary(toa_clock)), connection.execute_wrapper(note):
        until(time, began + timedelta(seconds=20), one)
    seconds = (time.now() - began).total_seconds()
    assert len(asked) / seconds <= 5, asked
    assert (time.woken - woken) / seconds <= 1.1
    assert sent(broker, "toa") == []


@pytest.mark.django_db(transaction=True)
def test_P6_ten_workers_and_two_beats_make_one_call_for_each_boundary(toa_clock):
    ping.CALLS.clear()
    ping.DURING.clear()
    Pulse.objects.exclude(endpoint=PING).update(wake_at=None, paused_at=to_datetime(toa_clock.now))
    start = toa_clock.now // HOUR * HOUR
    boundaries = iter(range(1, 101))
    meeting = Barrier(10, action=lambda: toa_clock.set(start + next(boundaries) * HOUR))

    def work(who):
        hints = []

        class Told:
            def hint(self, hint):
                hints.append(hint)

            def more(self):
                """Every worker makes a pass anyway."""

        for _ in range(100):
            meeting.wait(30)
            PULSES.step(100, Told())
            # Of two beats each may send a hint, and a message may come twice.
            for hint in [*hints, Hint("pulse", PING), Hint("pulse", PING)]:
                PULSES.perform(hint.endpoint, renew=False)
            hints.clear()

    assert [result for result in together(10, work) if result is not None] == []
    assert sorted(call["due"] for call in ping.CALLS) == [start + number * HOUR for number in range(1, 101)]
    assert len({call["key"] for call in ping.CALLS}) == 100
    lines = History.objects.filter(endpoint=PING)
    assert list(lines.values_list("outcome", flat=True)) == ["made"] * 100
