"""What a team writes instead: a loop over due rows that adds to a counter and notes it in a table.

On the same tables as toa. Neither checks a schema, keeps a docket, orders calls, retries or records a failure.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import psycopg
from django.db import connection, transaction
from django.utils import timezone

from benchmarks.components.meters.models import Meter
from toa.core.identity import uuid7
from toa.models import Delay, History

BATCH = 500

_CLAIM = """
SELECT id, request, due_at FROM toa_delay WHERE endpoint = 'components.meters.add' AND wake_at <= now()
 ORDER BY wake_at, id LIMIT %s FOR UPDATE SKIP LOCKED
"""
_LOCK = "SELECT id, count, version FROM components_meters_meter WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"
_WRITE = """
UPDATE components_meters_meter t SET count = n.count, version = n.version, updated_at = now()
  FROM unnest(%s::uuid[], %s::bigint[], %s::bigint[]) AS n(id, count, version) WHERE t.id = n.id
"""
_NOTE = """
INSERT INTO toa_history (id, call, source, endpoint, entity, outcome, code, due_at, at, lateness_ms, attempt, count)
SELECT n.id, n.call, 'delay', 'components.meters.add', '', 'made', '', n.due, now(), 0, 1, 1
  FROM unnest(%s::uuid[], %s::uuid[], %s::timestamptz[]) AS n(id, call, due)
"""

_KEYED = """
INSERT INTO toa_delay
       (id, endpoint, request, due_at, wake_at, attempt, strikes, chain, created_at, source, entity, name)
VALUES (%s, 'components.meters.add', %s, now() + '1 h', now() + '1 h', 0, 0, '{}', clock_timestamp(), 'delay', %s, %s)
    ON CONFLICT (entity, name) WHERE name IS NOT NULL
    DO UPDATE SET due_at = excluded.due_at, wake_at = excluded.wake_at
"""


def psycopg_loop() -> None:
    """Sets of rows, each in one transaction and five statements."""
    while _one_set():
        pass


def _one_set() -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_CLAIM, [BATCH])
        calls = [(identity, json.loads(request), due) for identity, request, due in cursor.fetchall()]
        if not calls:
            return 0
        cursor.execute(_LOCK, [[request["query"]["id"] for _, request, _ in calls]])
        rows = {identity.hex: [count, version] for identity, count, version in cursor.fetchall()}
        for _, request, _ in calls:
            row = rows[request["query"]["id"]]
            row[0] += request["input"]["by"]
            row[1] += 1
        written = list(rows.items())
        cursor.execute(
            _WRITE, [[key for key, _ in written], [row[0] for _, row in written], [row[1] for _, row in written]]
        )
        cursor.execute(_NOTE, [[uuid7() for _ in calls], [call[0] for call in calls], [call[2] for call in calls]])
        cursor.execute("DELETE FROM toa_delay WHERE id = ANY(%s)", [[call[0] for call in calls]])
    return len(calls)


def django_loop() -> None:
    """Row by row through the ORM, each in one transaction."""
    while _one_row():
        pass


def _one_row() -> bool:
    with transaction.atomic():
        now = timezone.now()
        due = Delay.objects.filter(endpoint="components.meters.add", wake_at__lte=now).order_by("wake_at", "id")
        call = due.select_for_update(skip_locked=True).first()
        if call is None:
            return False
        meter = Meter.objects.select_for_update(no_key=True).get(id=call.request["query"]["id"])
        meter.count += call.request["input"]["by"]
        meter.version += 1
        meter.save()
        History.objects.create(
            call=call.id,
            source="delay",
            endpoint=call.endpoint,
            outcome="made",
            due_at=call.due_at,
            at=now,
            lateness_ms=0,
        )
        call.delete()
    return True


def keyed_inserts(address: str, entity: str, number: int, ready: Callable[[], object]) -> None:
    """One row with a name of its own after another, each in a commit of one statement: no object is locked or changed,
    nothing is checked. The most that the database and its disk give."""
    with psycopg.connect(address, autocommit=True) as client:
        ready()
        for name in range(number):
            client.execute(_KEYED, [uuid7(), json.dumps({"query": {"id": entity}}), entity, f"k{name}"])
