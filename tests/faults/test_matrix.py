"""The process dies before and after every statement, wherever work is stored, changed, made and finished.

Each row of the table is a deed and a source; each cell counts the deaths at one kind of statement. After every death
everything is put right by what runs next: done exactly once in the database, and outside again only with the same key.
`make faults` takes every place, `make faults QUICK=1` (which `make test` runs) each fifth one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from django.db import transaction

import toa
from tests.components.claims.models import Claim
from tests.components.hazards.models import Hazard
from tests.components.ledgers.models import Ledger
from tests.components.tallies.models import Tally
from tests.components.tallies.operations import report
from toa.cadence.actions import failures
from toa.cadence.calls.due import DELAYS
from toa.cadence.calls.leases import renew
from toa.cadence.passes import Collected, perform, run_pass
from toa.core.calling import Lease
from toa.models import Delay, Delivery, Failure, History, Revision
from toa.testing.crashes import everywhere

pytestmark = pytest.mark.django_db(transaction=True)

TALLIES, HAZARDS, CLAIMS = "components.tallies", "components.hazards", "components.claims"
SHARES = [pytest.param(5, id="quick"), pytest.param(1, id="full", marks=pytest.mark.slow)]
COLUMNS = ("look", "lock", "claim", "write", "settle", "commit")

Prepared = tuple[Callable[[], object], Callable[[], object]]
"""An action, and the look afterwards: an assertion over the state that it left."""


def kind_of(place: str) -> str:
    """What a statement was for."""
    text = place.partition(": ")[2]
    if text == "COMMIT":
        return "commit"
    if "toa_history" in text or text.startswith("DELETE"):
        return "settle"
    if "NO KEY UPDATE" in text:
        return "lock"
    if "set_config" in text or "taken AS" in text or "FOR UPDATE" in text or "token" in text:
        return "claim"
    if text.startswith(("INSERT", "UPDATE", "WITH")):
        return "write"
    return "look"


@pytest.fixture
def world(toa_clock):
    return World(toa_clock)


class World:
    """What the cases need: a clock, rows to work on, and how work goes on after a death."""

    def __init__(self, clock) -> None:
        self.clock = clock
        report.CALLS.clear()

    def later(self, ms: int = 0) -> int:
        return self.clock.now + ms

    def work(self) -> None:
        """One pass, and the effects that it hints at."""
        hints = Collected()
        run_pass(hints)
        for hint in hints.hints:
            perform(hint, renew=False)

    def recover(self) -> None:
        self.clock.advance("3m")

    def hazard(self, **given) -> str:
        return toa.call(f"{HAZARDS}.create", given)["id"]

    def touch(self, identity: str, interval: object = 0) -> str:
        return toa.delay(f"{HAZARDS}.touch", {"query": {"id": identity}, "input": {}}, interval=interval, overdue=None)

    def outcomes(self, call: str) -> list[str]:
        return list(History.objects.filter(call=call).values_list("outcome", flat=True))


def count(identity: str) -> tuple[int, int]:
    return Hazard.objects.values_list("count", "version").get(id=identity)


# -- what is stored -------------------------------------------------------------------------------------------


def arm_delay(world: World) -> Prepared:
    """A transition arms a delay: both commit, or neither."""
    identity = toa.call(f"{TALLIES}.create", {"name": uuid4().hex})["id"]
    world.clock.run_until_idle()

    def look() -> None:
        row = Tally.objects.get(id=identity)
        made = History.objects.filter(source="delay", entity=f"{TALLIES}:{identity}").count()
        assert (row.count, row.version, made) in {(0, 1, 0), (6, 3, 1)}

    return lambda: toa.call(f"{TALLIES}.arm", {"interval": "1m", "by": 5}, id=identity), look


def arm_send(world: World) -> Prepared:
    """A transition sends a call to another row: both change, or neither."""
    sender, receiver = world.hazard(), world.hazard()

    def look() -> None:
        assert (count(sender), count(receiver)) in {((0, 1), (0, 1)), ((1, 2), (1, 2))}

    return lambda: toa.call(f"{HAZARDS}.send", {"to": receiver}, id=sender), look


def arm_effect(world: World) -> Prepared:
    """Plain code stores an effect: it is called, or it never was stored."""
    before = len(report.CALLS)

    def look() -> None:
        calls = report.CALLS[before:]
        made = History.objects.filter(call__in=[UUID(call["key"]) for call in calls], outcome="made")
        assert len(calls) in (0, 1)
        assert made.count() == len(calls)

    return lambda: toa.delay(f"{TALLIES}.report", {"input": {}}, interval="1m", overdue=None), look


def arm_deadline(world: World) -> Prepared:
    """A transition sets a deadline: it is reached once, or it was never set."""
    identity = uuid4().hex
    moment = world.later(60_000)

    def look() -> None:
        row = Claim.objects.filter(id=identity).first()
        assert row is None or (row.log, row.a) == (["set", "a"], None)

    return lambda: toa.call(f"{CLAIMS}.set", {"a": moment}, id=identity), look


def arm_delivery(world: World) -> Prepared:
    """A change raises an event: every receiver hears of it once, or nothing changed."""
    name = uuid4().hex

    def look() -> None:
        row = Tally.objects.filter(name=name).first()
        heard = [] if row is None else Ledger.objects.get(id=row.id).lines
        assert heard == ([] if row is None else ["1 created"])

    return lambda: toa.call(f"{TALLIES}.create", {"name": name}), look


# -- what is changed ------------------------------------------------------------------------------------------


def cancel_delay(world: World) -> Prepared:
    identity = world.hazard()
    call = world.touch(identity, "1m")

    def look() -> None:
        assert (world.outcomes(call), count(identity)) in [(["made"], (1, 2)), (["cancelled"], (0, 1))]

    return lambda: toa.delay.cancel(call), look


def cancel_in_a_transition(world: World) -> Prepared:
    identity, other = world.hazard(), world.hazard()
    call = world.touch(identity, "1m")

    def look() -> None:
        ending = (world.outcomes(call), count(identity), count(other))
        assert ending in [(["made"], (1, 2), (0, 1)), (["cancelled"], (0, 1), (1, 2))]

    return lambda: toa.call(f"{HAZARDS}.recall", {"delay": call}, id=other), look


def cancel_effect(world: World) -> Prepared:
    call = toa.delay(f"{TALLIES}.report", {"input": {}}, interval="1m", overdue=None)

    def look() -> None:
        called = sum(one["key"] == call for one in report.CALLS)
        assert (world.outcomes(call), called) in [(["made"], 1), (["cancelled"], 0)]

    return lambda: toa.delay.cancel(call), look


def move_delay(world: World) -> Prepared:
    identity = world.hazard()
    call = world.touch(identity, "1m")
    moments = (world.later(60_000), world.later(120_000))

    def look() -> None:
        assert (world.outcomes(call), count(identity)) == (["made"], (1, 2))
        line = History.objects.get(call=call)
        assert (line.due_at.timestamp() * 1000 in moments, line.lateness_ms) == (True, 0)

    return lambda: toa.delay.move(call, at=moments[1]), look


def move_in_a_transition(world: World) -> Prepared:
    identity, other = world.hazard(), world.hazard()
    call = world.touch(identity, "1m")
    moments = (world.later(60_000), world.later(120_000))

    def look() -> None:
        assert (world.outcomes(call), count(identity)) == (["made"], (1, 2))
        moved = count(other) == (1, 2)
        assert History.objects.get(call=call).due_at.timestamp() * 1000 == moments[moved]

    return lambda: toa.call(f"{HAZARDS}.recall", {"delay": call, "at": moments[1]}, id=other), look


# -- what is made ---------------------------------------------------------------------------------------------


def fire_delay(world: World) -> Prepared:
    identities = [world.hazard(), world.hazard()]
    calls = [world.touch(identity) for identity in (*identities, identities[0])]

    def look() -> None:
        assert [world.outcomes(call) for call in calls] == [["made"]] * 3
        assert [count(identity) for identity in identities] == [(2, 3), (1, 2)]
        revisions = Revision.objects.filter(component=HAZARDS, entity=identities[0])
        assert sorted(revisions.values_list("version", flat=True)) == [1, 2, 3]

    return world.work, look


def fire_send(world: World) -> Prepared:
    identity = world.hazard()
    call = toa.send(f"{HAZARDS}.touch", {"query": {"id": identity}, "input": {}})

    def look() -> None:
        assert (world.outcomes(call), count(identity)) == (["made"], (1, 2))

    return world.work, look


def fire_failing(world: World) -> Prepared:
    """A poisoned call beside a good one: one failure, and one that is made."""
    identity = world.hazard()
    request = {"query": {"id": identity}, "input": {"mode": "raise"}}
    poison = toa.delay(f"{HAZARDS}.touch", request, interval=0, overdue=None)
    good = world.touch(identity)

    def look() -> None:
        assert (world.outcomes(poison), world.outcomes(good), count(identity)) == (["failed"], ["made"], (1, 2))
        assert Failure.objects.filter(call=poison).count() == 1

    return world.work, look


def fire_delivery(world: World) -> Prepared:
    """Two events of one object, for two receivers."""
    identity = toa.call(f"{TALLIES}.create", {"name": uuid4().hex})["id"]
    toa.call(f"{TALLIES}.add", {"by": 1}, id=identity)

    def look() -> None:
        assert Ledger.objects.get(id=identity).lines == ["1 created", "2 updated to 1"]
        assert [line.split()[0] for line in Claim.objects.get(id=identity).log] == ["created", "updated"]
        made = History.objects.filter(source="delivery", outcome="made", entity__endswith=identity)
        assert made.count() == 4

    return world.work, look


def fire_effect(world: World) -> Prepared:
    """A leased call: hinted, claimed, run, finished."""
    call = toa.delay(f"{TALLIES}.report", {"input": {}}, interval=0, overdue=None)

    def look() -> None:
        assert world.outcomes(call) == ["made"]
        assert sum(one["key"] == call for one in report.CALLS) in (1, 2)

    return world.work, look


def fire_deadline(world: World) -> Prepared:
    """Two deadlines of one instance, each with a commit of its own."""
    identity = uuid4().hex
    moment = world.later(1000)
    toa.call(f"{CLAIMS}.set", {"a": moment, "b": moment}, id=identity)
    world.clock.set(moment)

    def look() -> None:
        assert Claim.objects.get(id=identity).log == ["set", "a", "b"]
        lines = History.objects.filter(source="deadline", entity=f"{CLAIMS}:{identity}", outcome="made")
        assert lines.count() == 2

    return world.work, look


def stopped(world: World) -> tuple[str, UUID]:
    """An instance that failed at an event, with one parked after it and a deadline between them; its failure."""
    identity = toa.call(f"{TALLIES}.create", {"name": uuid4().hex})["id"]
    world.clock.run_until_idle()
    toa.call(f"{CLAIMS}.set", {"mode": "deaf", "a": world.later(2000)}, id=identity)
    toa.call(f"{TALLIES}.add", {"by": 1}, id=identity)
    world.clock.run_until_idle()
    world.clock.set(world.later(3000))
    toa.call(f"{TALLIES}.add", {"by": 1}, id=identity)
    world.clock.run_until_idle()
    toa.call(f"{CLAIMS}.set", {"mode": None}, id=identity)
    failure = Failure.objects.get(entity=f"{CLAIMS}:{identity}")
    return identity, failure.id


def in_order(world: World, identity: str) -> None:
    row = Claim.objects.get(id=identity)
    heard = [line for line in row.log if line != "set"]
    assert [line.split()[0] for line in heard] == ["created", "updated", "a", "updated"]
    assert (row.clock_state, row.held_at) == (None, None)
    assert not Delivery.objects.filter(target=identity).exists()
    assert not Failure.objects.filter(entity=f"{CLAIMS}:{identity}").exists()


def drain_instance(world: World) -> Prepared:
    """T15: the failed step, what parked, the deadline in its place, and on."""
    identity, failure = stopped(world)
    failures.retry(failure, "anna")
    return world.clock.run_until_idle, lambda: in_order(world, identity)


def retry_failure(world: World) -> Prepared:
    """A retry that dies is there as a whole, or not at all; asked for again, the instance goes on."""
    identity, failure = stopped(world)

    def look() -> None:
        if Failure.objects.filter(id=failure).exists():
            failures.retry(failure, "anna")
            world.clock.run_until_idle()
        in_order(world, identity)

    return lambda: failures.retry(failure, "anna"), look


def renew_lease(world: World) -> Prepared:
    """A lease that its owner could not renew lapses, and the call is made by somebody else."""
    call = toa.delay(f"{TALLIES}.report", {"input": {}}, interval=0, overdue=None)
    with transaction.atomic():
        now = world.later()
        live = DELAYS.kind.lease(f"{TALLIES}.report", uuid4(), now, now + 30_000, 0)
    assert live is not None
    assert live.token is not None
    assert live.id == UUID(call)
    lease = Lease(table="toa_delay", id=live.id, token=live.token)

    def look() -> None:
        assert world.outcomes(call) == ["made"]
        assert sum(one["key"] == call for one in report.CALLS) == 1

    return lambda: renew(lease, 30_000), look


CASES: dict[tuple[str, str], Callable[[World], Prepared]] = {
    ("arm", "delay"): arm_delay,
    ("arm", "send"): arm_send,
    ("arm", "effect"): arm_effect,
    ("arm", "deadline"): arm_deadline,
    ("arm", "delivery"): arm_delivery,
    ("cancel", "delay"): cancel_delay,
    ("cancel", "in a transition"): cancel_in_a_transition,
    ("cancel", "effect"): cancel_effect,
    ("move", "delay"): move_delay,
    ("move", "in a transition"): move_in_a_transition,
    ("fire", "delay"): fire_delay,
    ("fire", "send"): fire_send,
    ("fire", "beside a failure"): fire_failing,
    ("fire", "delivery"): fire_delivery,
    ("fire", "effect"): fire_effect,
    ("fire", "deadline"): fire_deadline,
    ("drain", "instance"): drain_instance,
    ("retry", "failure"): retry_failure,
    ("renew", "effect"): renew_lease,
}
TWICE = [case for case in CASES if case[0] in ("fire", "drain")]
"""What somebody else may be doing at that very moment."""


def die_everywhere(world: World, case: tuple[str, str], every: int, meanwhile=None) -> Counter[str]:
    """Run a case once for each place; how many deaths there were at each kind of statement."""
    deaths: Counter[str] = Counter()
    looks: list[Callable[[], object]] = []

    def prepare() -> Callable[[], object]:
        action, look = CASES[case](world)
        looks.append(look)
        return action

    for place in everywhere(prepare, every=every, meanwhile=meanwhile):
        deaths[kind_of(place)] += 1
        world.recover()
        try:
            looks[-1]()
        except AssertionError as error:
            raise AssertionError(f"{' '.join(case)}, {place}: {error}") from error
    world.recover()
    looks[-1]()
    nothing_left()
    return deaths


def nothing_left() -> None:
    assert (Delay.objects.count(), Delivery.objects.exclude(endpoint__startswith=f"{CLAIMS}.").count()) == (0, 0)
    settled = History.objects.filter(source__in=("delay", "send", "delivery")).exclude(outcome="failed")
    assert [call for call, lines in Counter(settled.values_list("call", flat=True)).items() if lines > 1] == []


def table(rows: dict[tuple[str, str], Counter[str]]) -> str:
    lines = [f"  {'deaths at':<28}" + "".join(f"{name:>8}" for name in COLUMNS)]
    for (deed, source), deaths in rows.items():
        cells = "".join(f"{deaths[name] or '-':>8}" for name in COLUMNS)
        lines.append(f"  {deed + ': ' + source:<28}{cells}")
    total = sum(sum(deaths.values()) for deaths in rows.values())
    return "\n".join([*lines, f"  {total} deaths, and everything was put right after each"])


@pytest.mark.parametrize("every", SHARES)
def test_D5_death_at_every_statement_of_every_deed(world, every, capsys):
    rows = {case: die_everywhere(world, case, every) for case in CASES}
    with capsys.disabled():
        print(f"\n{table(rows)}")
    assert all(rows.values())
    hurt: dict[str, int] = defaultdict(int)
    for deaths in rows.values():
        for name, number in deaths.items():
            hurt[name] += number
    assert set(hurt) <= set(COLUMNS)
    assert every > 1 or set(hurt) == set(COLUMNS)


@pytest.mark.parametrize("every", [pytest.param(9, id="quick"), pytest.param(1, id="full", marks=pytest.mark.slow)])
def test_D5_death_at_every_statement_while_somebody_else_does_the_same_work(world, every, capsys):
    rows = {case: die_everywhere(world, case, every, meanwhile=world.work) for case in TWICE}
    with capsys.disabled():
        print(f"\n{table(rows)}")
    assert all(rows.values())
