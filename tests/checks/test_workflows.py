from __future__ import annotations

from toa.checks.workflows import check_awaited, check_replayed

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


FORGET = """
import toa
from toa import retry, time
from toa.time import sleep as nap


async def workflow(input, context):
    async def deliver(moment):
        context.remote.store.orders.cancel(query={"id": 1})

    time.sleep("7d")
    nap(1)
    context.call("x.y.z")
    context.local.remind({})
    toa.time.watch(toa.time.interval("1h"), deliver)
    retry.forever(lambda: context.local.remind({}))
    later = context.local.remind({})
    await later
    await context.now()
    context.logger.info("on the way")
    await retry.forever(lambda: context.call("x.y.z"))
    return time.sleep(1)
"""


def test_what_acts_beside_the_journal_is_reported(project):
    beginning = "import toa\nfrom toa import send\n\n\nasync def workflow(input, context):\n"
    source = f"{beginning}    toa.call('x.y.z')\n    send('x.y.z')\n"
    project.component("garage.cars", "operations:\n  follow: {}\n", follow=source)
    project.install("garage.cars")
    assert [one.msg for one in check_replayed(None)] == [
        "follow.py:6: toa.call() is done again at each replay of the workflow",
        "follow.py:7: toa.send() is done again at each replay of the workflow",
    ]


def test_what_is_asked_for_and_not_awaited_is_reported_where_it_stands(project):
    project.component("garage.cars", "operations:\n  follow: {}\n", follow=FORGET)
    project.install("garage.cars")
    told = check_awaited(None)
    assert [(one.msg.partition(": ")[2].partition("()")[0], one.hint) for one in told] == [
        ("toa.time.sleep", "await time.sleep(…)"),
        ("toa.time.sleep", "await nap(…)"),
        ("context.call", "await context.call(…)"),
        ("context.local.remind", "await context.local.remind(…)"),
        ("toa.time.watch", "await toa.time.watch(…)"),
        ("toa.retry.forever", "await retry.forever(…)"),
        ("context.remote.store.orders.cancel", "await context.remote.store.orders.cancel(…)"),
    ]
    assert {(one.id, one.obj) for one in told} == {("toa.W109", "garage.cars.follow")}
    assert told[0].msg.startswith("follow.py:11: ")
