"""Beat and two workers, and `toa run`: how fast they fire what is due at once, how late what comes due one by one.

    python -m benchmarks together

Lateness is from the moment that was planned to the moment at which the call began, as the history keeps it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

from benchmarks.databases import database
from benchmarks.harness import QUICK, RATES, Figure, in_time, lateness, number_of, patiently, repeated, say, spread

AT_ONCE = 10_000
ROUNDS = 3 if QUICK else 5
FIRST = 20
WARM = 4_000
"""So many that both workers take part."""
BATCHES = 2_000
"""Two workers with a batch of 500 in hand and one of them behind by one: no call may pass more older ones than that."""


def main() -> None:
    with database():
        from django.db import connection

        from benchmarks.load import METERS, arm, clear, subjects
        from benchmarks.processes import beat_and_workers, running, toa_run, wait
        from shop.children import Child
        from toa.models import Delay, History
        from toa.runtime import clock

        def fire(moments: Sequence[int], children: Sequence[Child]) -> list[tuple[int, int, str]]:
            """Lateness at the beginning and at the end of each call, in ms, and the call; in the order of settling."""
            forget()
            arm(f"{METERS}.add", made[: len(moments)], moments)
            armed = time.time() * 1000
            wait(lambda: not Delay.objects.exists(), children)
            if len(moments) > FIRST:
                in_time(moments[0], armed)
            lines = History.objects.filter(source="delay").order_by("at", "id")
            values = lines.values_list("lateness_ms", "due_at", "at", "call")
            return [(late, round((at - due).total_seconds() * 1000), call.hex) for late, due, at, call in values]

        def ahead(number: int, times: int) -> int:
            """A moment by which so many are armed, where each takes so many times as long."""
            return clock.clock().now() + times * (900 + number // 10)

        def forget() -> None:
            with connection.cursor() as cursor:
                cursor.execute("TRUNCATE toa_history")
                cursor.execute("VACUUM ANALYZE toa_delay")

        made: list[str] = []
        for name, commands, tightest in (
            ("beat and two workers", beat_and_workers(), (10, 30)),
            ("toa run", toa_run(), (2, 10)),
        ):
            clear()
            made[:] = subjects(METERS, max(AT_ONCE, *map(number_of, RATES)))
            with running(*commands) as children:
                # The first ones say that the processes are there.
                fire([clock.clock().now()] * FIRST, children)
                patiently(lambda times: fire([ahead(WARM, times)] * WARM, children))
                through = name == "beat and two workers"

                def at_once() -> tuple[int, int]:
                    """How long after that moment the last one was settled, and how many older ones a call passed."""
                    fired = patiently(lambda times: fire([ahead(AT_ONCE, times)] * AT_ONCE, children))
                    return max(end for _, end, _ in fired), _passed([call for _, _, call in fired])

                ends, passed = zip(*repeated(at_once, ROUNDS if through or not QUICK else 1), strict=True)
                least, most = (10_000, 2_500) if through else (None, None)
                note = f"{AT_ONCE:,} due in one millisecond, from that moment to the last commit"
                took = statistics.median(ends)
                say(Figure(name=f"fired, {name}", value=AT_ONCE / took * 1000, unit="/s", least=least, note=note))
                say(Figure(name=f"{AT_ONCE:,} due in one millisecond, {name}", value=took, unit="ms", most=most))
                label = f"{AT_ONCE:,} due in one millisecond: older ones that a call passes at most, {name}"
                say(Figure(name=label, value=max(passed), unit="calls", most=BATCHES))
                for rate in RATES:
                    fired = patiently(lambda times: fire(spread(ahead(number_of(rate), times), rate), children))  # noqa: B023
                    late = [begun for begun, _, _ in fired]
                    line = f"toa, {name}" if through else name
                    lateness(name, rate, late, label="lateness {share}, {rate}, {who}", line=line, most=tightest)


def _passed(calls: Sequence[str]) -> int:
    """How many older calls were settled after a younger one, at most. Ids are in the order of arming."""
    places = {call: place for place, call in enumerate(sorted(calls))}
    return max(places[call] - number for number, call in enumerate(calls))


if __name__ == "__main__":
    main()
