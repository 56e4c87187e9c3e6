"""When a tick is sent, and for what: decided from looks alone."""

from dataclasses import replace
from time import monotonic

from toa.cadence.pacing import Pacer, wait_until
from toa.cadence.source import BACKSTOP_MS, WAKE_LEAST_MS
from toa.cadence.sources import Horizon
from toa.core.clock import ManualClock
from toa.runtime import clock

LEAST_MS = 4


def seen(now, due=None, newest=None, coming=None):
    return Horizon(
        due=due,
        newest=due if newest is None else newest,
        coming=coming,
        now=now,
        sources=frozenset() if due is None else frozenset({"delay"}),
        following={} if coming is None else {"schedule": coming},
    )


def ticks(pacer, looks):
    return [pacer.look(one).tick for one in looks]


def test_a_backlog_that_gets_smaller_is_not_ticked_at_every_look():
    """Its passes ask for one another."""
    looks = [seen(10_000 + 5 * number, due=1_000 + number, newest=9_000) for number in range(21)]
    sent = ticks(Pacer(LEAST_MS), looks)
    assert [looks[number].now for number, tick in enumerate(sent) if tick] == [10_000, 10_050, 10_100]


def test_what_came_due_since_the_last_tick_has_its_own():
    pacer = Pacer(LEAST_MS)
    assert pacer.look(seen(1_000, due=1_000)).tick
    soon = pacer.look(seen(1_001, due=1_000, newest=1_001))
    assert (soon.tick, soon.wait_ms) == (False, LEAST_MS - 1)
    assert pacer.look(seen(1_004, due=1_000, newest=1_001)).tick
    assert pacer.look(seen(1_010, due=900, newest=1_001)).tick, "something older was committed late"


def test_what_is_held_is_ticked_less_and_less_often():
    pacer, now, waits = Pacer(LEAST_MS), 0, []
    for _ in range(8):
        beat = pacer.look(seen(now, due=0))
        assert beat.tick
        waits.append(beat.wait_ms)
        now += beat.wait_ms
    assert waits == [WAKE_LEAST_MS * 2**number for number in range(5)] + [BACKSTOP_MS] * 3


def test_what_comes_next_is_known_where_the_sleep_ends_with_it():
    pacer = Pacer(LEAST_MS)
    assert pacer.look(seen(0, coming=300)).then == {"schedule"}
    assert not pacer.look(seen(0, coming=BACKSTOP_MS + 1)).then
    assert not pacer.look(seen(0)).then


def test_what_comes_too_soon_after_a_tick_has_its_own_as_soon_as_there_may_be_one():
    pacer = Pacer(LEAST_MS)
    beat = pacer.look(seen(1_000, due=1_000, coming=1_001))
    assert (beat.tick, beat.wait_ms, beat.then) == (True, LEAST_MS, {"schedule"})
    assert pacer.asked() == 1_000 + LEAST_MS
    beat = pacer.look(seen(1_000 + LEAST_MS, due=1_001, newest=1_004, coming=1_005))
    assert (beat.tick, beat.wait_ms, beat.then) == (False, LEAST_MS, {"schedule"})


def test_a_look_sends_no_second_tick_for_what_was_reached_without_one():
    pacer = Pacer(LEAST_MS)
    pacer.look(seen(0, coming=300))
    assert pacer.asked() == 300
    assert not pacer.look(seen(301, due=300)).tick
    assert pacer.look(seen(305, due=300, newest=305)).tick


def test_a_look_between_the_tick_that_was_sent_ahead_and_its_moment_sends_no_other_for_it():
    """A hint may wake beat there."""
    pacer = Pacer(LEAST_MS)
    pacer.look(seen(0, coming=300))
    pacer.asked()
    beat = pacer.look(seen(296, coming=300))
    assert (beat.tick, beat.wait_ms, beat.then) == (False, 4, frozenset())
    assert pacer.look(seen(297, due=297, coming=300)).tick, "what came due meanwhile has a tick of its own"
    assert pacer.look(seen(297, due=297, coming=300)).wait_ms == 3


def test_what_comes_sooner_or_of_another_source_is_not_left_to_the_tick_that_was_sent_ahead():
    pacer = Pacer(LEAST_MS)
    pacer.look(seen(0, coming=300))
    pacer.asked()
    assert pacer.look(seen(295, coming=296)).then == {"schedule"}
    both = replace(seen(297, coming=300), following={"schedule": 300, "delay": 300})
    assert pacer.look(both).then == {"schedule", "delay"}


def test_a_wait_for_a_moment_ends_with_it_and_is_not_begun_for_one_that_is_far_off():
    now = ManualClock(1_000)
    began = monotonic()
    with clock.use(now):
        wait_until(1_000)
        wait_until(1_000 + 3_600_000)
        assert monotonic() - began < 1
        wait_until(1_010)  # a clock that stands still does not keep it
    assert 0.01 <= monotonic() - began < 1
