"""When a tick is sent, and for what: decided from looks alone."""

from toa.cadence.pacing import Pacer
from toa.cadence.source import BACKSTOP_MS, TICK_LEAST_MS, WAKE_LEAST_MS
from toa.cadence.sources import Horizon


def seen(now, due=None, newest=None, coming=None):
    return Horizon(
        due=due,
        newest=due if newest is None else newest,
        coming=coming,
        now=now,
        sources=frozenset() if due is None else frozenset({"delay"}),
        following=frozenset() if coming is None else frozenset({"schedule"}),
    )


def ticks(pacer, looks):
    return [pacer.look(one).tick for one in looks]


def test_a_backlog_that_gets_smaller_is_not_ticked_at_every_look():
    """Its passes ask for one another."""
    looks = [seen(10_000 + 5 * number, due=1_000 + number, newest=9_000) for number in range(21)]
    sent = ticks(Pacer(), looks)
    assert [looks[number].now for number, tick in enumerate(sent) if tick] == [10_000, 10_050, 10_100]


def test_what_came_due_since_the_last_tick_has_its_own():
    pacer = Pacer()
    assert pacer.look(seen(1_000, due=1_000)).tick
    soon = pacer.look(seen(1_001, due=1_000, newest=1_001))
    assert (soon.tick, soon.wait_ms) == (False, TICK_LEAST_MS - 1)
    assert pacer.look(seen(1_004, due=1_000, newest=1_001)).tick
    assert pacer.look(seen(1_010, due=900, newest=1_001)).tick, "something older was committed late"


def test_what_is_held_is_ticked_less_and_less_often():
    pacer, now, waits = Pacer(), 0, []
    for _ in range(8):
        beat = pacer.look(seen(now, due=0))
        assert beat.tick
        waits.append(beat.wait_ms)
        now += beat.wait_ms
    assert waits == [WAKE_LEAST_MS * 2**number for number in range(5)] + [BACKSTOP_MS] * 3


def test_what_comes_next_is_known_where_the_sleep_ends_with_it():
    pacer = Pacer()
    assert pacer.look(seen(0, coming=300)).then == {"schedule"}
    assert not pacer.look(seen(0, coming=BACKSTOP_MS + 1)).then
    assert not pacer.look(seen(0)).then


def test_a_look_sends_no_second_tick_for_what_was_reached_without_one():
    pacer = Pacer()
    pacer.look(seen(0, coming=300))
    pacer.reached()
    assert not pacer.look(seen(301, due=300)).tick
    assert pacer.look(seen(305, due=300, newest=305)).tick
