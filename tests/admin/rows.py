"""Rows of toa's tables, made by hand, around a moment in epoch ms."""

from datetime import datetime, timedelta
from uuid import uuid4

from toa.core.clock import to_datetime
from toa.models import (
    Component,
    Delay,
    Delivery,
    EndedRun,
    Failure,
    History,
    Lock,
    Process,
    Pulse,
    Revision,
    Run,
    RunStep,
    Schedule,
    ScheduledCall,
)

MODELS = (
    Component,
    Delay,
    Delivery,
    EndedRun,
    Failure,
    History,
    Lock,
    Process,
    Pulse,
    Revision,
    Run,
    Schedule,
    ScheduledCall,
)
"""The tables that the admin shows."""

ORDER = "0193f0a07c5b7c3e9d8f000000000001"
ENTITY = f"store.orders:{ORDER}"


def delay(now, due=0, **columns):
    """A delay that is due so many ms from now."""
    moment = to_datetime(now + due)
    given = {
        "endpoint": "store.orders.cancel",
        "request": {"input": {"reason": "EXPIRED"}, "query": {"id": ORDER}},
        "due_at": moment,
        "wake_at": moment,
        "cause": {"endpoint": "store.orders.create", "key": "k", "entity": ENTITY},
        "created_at": to_datetime(now),
        "entity": ENTITY,
    }
    return Delay.objects.create(**given | columns)


def delivery(now, due=0, **columns):
    moment = to_datetime(now + due)
    given = {
        "endpoint": "fulfilment.stock.reserve",
        "request": {"input": {"quantity": 2}, "query": {"id": "P-001"}},
        "due_at": moment,
        "wake_at": moment,
        "cause": {"endpoint": "store.orders.create", "key": "k", "entity": ENTITY},
        "created_at": moment,
        "event": "store.orders.created",
        "source": "store.orders",
        "source_id": uuid4().hex,
        "version": 1,
        "receiver": "fulfilment.stock",
        "position": 0,
        "target": "P-001",
    }
    return Delivery.objects.create(**given | columns)


def history(now, at=0, lateness=0, **columns):
    """A call that was settled so many ms from now."""
    given = {
        "call": uuid4(),
        "source": "delay",
        "endpoint": "store.orders.cancel",
        "entity": ENTITY,
        "outcome": "made",
        "due_at": to_datetime(now + at - lateness),
        "at": to_datetime(now + at),
        "lateness_ms": lateness,
        "cause": {"endpoint": "store.orders.create"},
    }
    return History.objects.create(**given | columns)


def failure(now, at=0, **columns):
    given = {
        "call": uuid4(),
        "source": "delivery",
        "endpoint": "fulfilment.stock.reserve",
        "entity": ENTITY,
        "request": {"input": None, "query": {"id": "P-001"}},
        "error": "ValueError: no such product",
        "traceback": "Traceback (most recent call last):\n  ValueError: no such product",
        "attempts": 3,
        "due_at": to_datetime(now + at),
        "at": to_datetime(now + at),
        "row": {"chain": [], "cause": None},
    }
    return Failure.objects.create(**given | columns)


def pulse(now, due=0, **columns):
    given = {
        "endpoint": "store.orders.expire",
        "name": uuid4().hex,
        "cycle_ms": 300_000,
        "cursor": 1,
        "wake_at": to_datetime(now + due),
    }
    return Pulse.objects.create(**given | columns)


def schedule(now, due=0, **columns):
    given = {
        "endpoint": "store.reports.weekly",
        "name": uuid4().hex,
        "expression": "0 9 * * mon",
        "zone": "Europe/Berlin",
        "catch_up": "once",
        "each_max": 10,
        "each_window_ms": 0,
        "overlap": "skip",
        "gap": "shift",
        "fold": "first",
        "jitter_ms": 0,
        "cursor": to_datetime(now),
        "cursor_offset_s": 3600,
        "due_at": to_datetime(now + due),
        "wake_at": to_datetime(now + due),
    }
    return Schedule.objects.create(**given | columns)


def scheduled_call(now, due=0, **columns):
    moment = to_datetime(now + due)
    given = {
        "endpoint": "store.reports.weekly",
        "request": {"input": {"at": now}, "query": None},
        "due_at": moment,
        "wake_at": moment,
        "created_at": to_datetime(now),
        "schedule": uuid4(),
        "at": moment,
        "entity": ENTITY,
    }
    return ScheduledCall.objects.create(**given | columns)


def revision(now, at=0, **columns):
    given = {
        "component": "store.orders",
        "entity": uuid4().hex,
        "version": 1,
        "endpoint": "store.orders.create",
        "changes": {"status": [None, "pending"]},
        "outside": False,
        "digest": "0" * 64,
        "at": to_datetime(now + at),
    }
    return Revision.objects.create(**given | columns)


def lock(now, due=0, **columns):
    given = {
        "key": f"store.orders:{uuid4().hex}",
        "token": uuid4(),
        "holder": "store.orders.book",
        "taken_at": to_datetime(now),
        "until": to_datetime(now + due),
    }
    return Lock.objects.create(**given | columns)


def component(now, due=0, **columns):
    given = {
        "locator": f"store.{uuid4().hex}",
        "manifest": {"name": "x", "operations": {}},
        "operations": {"cancel": {"type": "transition"}},
        "digest": "0" * 64,
        "release": 0,
        "synced_at": to_datetime(now),
    }
    return Component.objects.create(**given | columns)


def process(now, due=0, **columns):
    given = {
        "id": uuid4(),
        "kind": "worker",
        "host": "db.example",
        "pid": 4711,
        "started_at": to_datetime(now) - timedelta(hours=1),
        "seen_at": to_datetime(now),
        "running": [uuid4()],
    }
    return Process.objects.create(**given | columns)


def run(now, due=0, **columns):
    """A run that has made one step and sleeps."""
    moment = to_datetime(now + due)
    given = {
        "endpoint": "loyalty.welcome",
        "request": {"input": {"customer": "c"}},
        "due_at": moment,
        "wake_at": moment,
        "created_at": moment,
        "seq": 2,
        "steps": 1,
        "waits": {"kind": "sleep", "name": "", "position": 1, "until": now + due},
        "watches": {"w": [now, now]},
    }
    made = Run.objects.create(**given | columns)
    RunStep.objects.create(
        run=made.pk, position=0, kind="call", name="loyalty.greet", outcome="made", value={"sent": 1}, at=moment
    )
    return made


def ended_run(now, at=0, **columns):
    given = {
        "endpoint": "loyalty.welcome",
        "request": {"input": {"customer": "c"}},
        "outcome": "made",
        "result": {"messages": 3},
        "steps": [{"position": 0, "kind": "now", "name": "", "outcome": "made", "value": now, "at": now}],
        "due_at": to_datetime(now),
        "created_at": to_datetime(now),
        "ended_at": to_datetime(now + at),
    }
    return EndedRun.objects.create(**given | columns)


MAKERS = {
    Component: component,
    Delay: delay,
    Delivery: delivery,
    EndedRun: ended_run,
    Failure: failure,
    History: history,
    Lock: lock,
    Process: process,
    Pulse: pulse,
    Revision: revision,
    Run: run,
    Schedule: schedule,
    ScheduledCall: scheduled_call,
}


def fill(model, count, now):
    """Empty the table and make so many rows, a second apart."""
    model.objects.all().delete()
    return [MAKERS[model](now, number * 1000) for number in range(count)]


def spread(row, count):
    """So many more rows like this one: a second apart, each of its own entity and call, of a hundred endpoints."""
    same = {field.attname: getattr(row, field.attname) for field in row._meta.fields if not field.primary_key}
    moments = [name for name, value in same.items() if isinstance(value, datetime)]
    made = []
    for number in range(1, count + 1):
        other = {name: same[name] + timedelta(seconds=number) for name in moments}
        other["endpoint"] = f"other.component.operation{number % 100}"
        about = next((name for name in ("source_id", "entity", "key") if name in same), None)
        if about is not None:
            other[about] = f"other.component:{number}"
        if "call" in same:
            other["call"] = uuid4()
        made.append(type(row)(**same | other))
    type(row).objects.bulk_create(made)
