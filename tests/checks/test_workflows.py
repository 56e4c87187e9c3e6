from __future__ import annotations

from toa.checks.workflows import check_replayed

FOLLOW = """
import random
import time
import uuid as ids
from datetime import date, datetime
from uuid import UUID

from toa import time as durable


async def deliver(moment):
    datetime.now()


async def workflow(input, context):
    time.time()
    random.choice([1])
    ids.uuid4()
    date.today()
    UUID(int=1)
    datetime.fromtimestamp(0)
    await durable.sleep(1)
    await context.call("x.y.now")
"""


def test_what_differs_at_each_replay_is_reported_where_it_stands(project):
    project.component("garage.cars", "operations:\n  follow: {}\n", follow=FOLLOW)
    project.install("garage.cars")
    told = [(one.id, one.msg.partition(" gives")[0], one.obj) for one in check_replayed(None)]
    names = ["datetime.datetime.now", "time.time", "random.choice", "uuid.uuid4", "datetime.date.today"]
    assert {msg.partition(": ")[2] for _, msg, _ in told} == {f"{name}()" for name in names}
    assert {(id, obj) for id, _, obj in told} == {("toa.W108", "garage.cars.follow")}
    assert told[0][1].startswith("follow.py:")
    assert all("toa" in one.hint or "context." in one.hint for one in check_replayed(None))
