"""Beat and two workers, and `toa run`: how fast they fire what is due at once, how late what comes due one by one.

    python -m benchmarks together

Lateness is from the moment that was planned to the moment at which the call began, as the history keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.harness import QUICK, Figure, database, percentile, say

AT_ONCE = 10_000
RATES = (10, 100, 1_000) if QUICK else (10, 100, 1_000, 2_000)
SECONDS = 5 if QUICK else 20
AHEAD_MS = 4_000
"""How long before the first moment everything is armed."""


def main() -> None:
    with database():
        from django.db import connection

        from benchmarks.load import METERS, arm, clear, subjects
        from benchmarks.processes import beat_and_workers, running, toa_run, wait
        from shop.children import Child
        from toa.models import Delay, History
        from toa.runtime import clock

        def fire(moments: Sequence[int], children: Sequence[Child]) -> list[tuple[int, int]]:
            """Lateness at the beginning and at the end of each call, in ms."""
            arm(f"{METERS}.add", made[: len(moments)], moments)
            wait(lambda: not Delay.objects.exists(), children)
            lines = History.objects.filter(source="delay").values_list("lateness_ms", "due_at", "at")
            return [(late, round((at - due).total_seconds() * 1000)) for late, due, at in lines]

        def now() -> int:
            return clock.clock().now()

        made: list[str] = []
        for name, commands, tightest in (
            ("beat and two workers", beat_and_workers(), (10, 30)),
            ("toa run", toa_run(), (2, 10)),
        ):
            clear()
            made[:] = subjects(METERS, max(AT_ONCE, *(rate * SECONDS for rate in RATES)))
            with running(*commands) as children:
                # The first one says that they are there, and warms them.
                fire([now()] * 100, children)
                _forget(connection)
                moment = now() + AHEAD_MS
                ended = [end for _, end in fire([moment] * AT_ONCE, children)]
                through = name == "beat and two workers"
                least, most = (10_000, 2_500) if through else (None, None)
                say(
                    Figure(
                        name=f"fired, {name}",
                        value=AT_ONCE / max(ended) * 1000,
                        unit="/s",
                        least=least,
                        note=f"{AT_ONCE:,} due in one millisecond, from that moment to the last commit",
                    )
                )
                say(Figure(name=f"{AT_ONCE:,} due in one millisecond, {name}", value=max(ended), unit="ms", most=most))
                for rate in RATES:
                    _forget(connection)
                    first = now() + AHEAD_MS
                    moments = [first + number * 1000 // rate for number in range(rate * SECONDS)]
                    late = [begun for begun, _ in fire(moments, children)]
                    for share, limit in zip((0.5, 0.99), tightest, strict=True):
                        label = f"lateness p{share * 100:.0f}, {rate:,} a second, {name}"
                        say(Figure(name=label, value=percentile(late, share), unit="ms", most=limit))


def _forget(connection: object) -> None:
    with connection.cursor() as cursor:  # type: ignore[attr-defined]
        cursor.execute("TRUNCATE toa_history")
        cursor.execute("VACUUM ANALYZE toa_delay")


if __name__ == "__main__":
    main()
