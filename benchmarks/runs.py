"""Runs of workflows: how many a second, how late sleepers wake, what sleeping costs, how fast a journal is replayed.

    python -m benchmarks runs

`peers.dbos_workflows` measures the same of DBOS.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from benchmarks.databases import database
from benchmarks.harness import (
    QUICK,
    SLEEPERS,
    Figure,
    Taken,
    in_time,
    middle,
    patiently,
    percentile,
    repeated,
    say,
    timed,
)

ONE_STEP = 500 if QUICK else 1_000
ROUNDS = 3 if QUICK else 5
WARMING = 20
AHEAD_MS = 700
START_MS = 6
"""More than what starting one sleeper takes."""
ASLEEP = 20_000 if QUICK else 100_000
STEPS = 1_000
WATCHED_S = 1.0 if QUICK else 5.0
"""How long a process stands beside the sleepers before its memory is read."""

_LIKE_IT = """
INSERT INTO toa_run (id, endpoint, request, due_at, wake_at, attempt, strikes, chain, cause, created_at, key, seq,
                     steps, watches, cancel_by)
SELECT gen_random_uuid(), endpoint, request, due_at, now() + interval '1 day', 0, 0, chain, cause, created_at, key, 0,
       0, '{}', '' FROM toa_run, generate_series(1, %s)
"""
_STEP_EACH = """
INSERT INTO toa_runstep (run, position, kind, name, outcome, value, at)
SELECT r.id, s.position, s.kind, s.name, s.outcome, s.value, s.at FROM toa_run r, toa_runstep s WHERE r.seq = 0
"""
# As the step loop leaves it: each row is written twice, so that the room of the first one counts too.
_ASLEEP = """
UPDATE toa_run r SET seq = l.seq, steps = l.steps, waits = l.waits, wake_at = l.wake_at
  FROM (SELECT * FROM toa_run WHERE seq > 0) l WHERE r.seq = 0
"""
_SIZE = "SELECT pg_total_relation_size('toa_run') + pg_total_relation_size('toa_runstep')"


def main() -> None:
    with database():
        from django.db import connection

        import toa
        from benchmarks.load import METERS, drain, subjects
        from benchmarks.processes import beat_and_workers, resident, running, toa_run, wait
        from shop.children import Child
        from toa.cadence.calls import suspects
        from toa.cadence.serving import serve
        from toa.cadence.sessions import prepare_session
        from toa.models import EndedRun, Run, RunStep
        from toa.runtime import clock
        from toa.workflow import checking

        serve()
        prepare_session()

        def clear() -> None:
            with connection.cursor() as cursor:
                cursor.execute("TRUNCATE toa_run, toa_runstep, toa_runcall, toa_endedrun, toa_history")
                cursor.execute("ANALYZE")

        def rounds(begin: Callable[[], object]) -> Taken:
            def both() -> None:
                begin()
                while EndedRun.objects.count() < ONE_STEP:
                    drain()

            def one() -> Taken:
                clear()
                taken = timed(both)
                assert EndedRun.objects.filter(outcome="made").count() == ONE_STEP
                return taken

            return middle(repeated(one, ROUNDS))

        def told(name: str, taken: Taken) -> None:
            note = f"{ONE_STEP:,} in a round; {ONE_STEP / taken.cpu:,.0f} per second of its processor time"
            say(Figure(name=name, value=ONE_STEP / taken.wall, unit="/s", note=note))

        def each_alone() -> None:
            for number in range(ONE_STEP):
                toa.start("components.journeys.ponder", {"n": 1}, key=f"{number}")

        made = subjects(METERS, ONE_STEP)

        def each_counts() -> None:
            for identity in made:
                toa.start("components.journeys.count", {"id": identity})

        told("runs of one step that does nothing, started and ended", rounds(each_alone))
        told("runs of one transition, started and ended", rounds(each_counts))

        clear()
        toa.start("components.journeys.ponder", {"n": STEPS})
        drain()
        assert RunStep.objects.count() == STEPS
        replays = []
        for _ in range(10 * ROUNDS):
            began = time.perf_counter()
            assert [one.holds for one in checking.check()] == [True]
            replays.append((time.perf_counter() - began) * 1000)
        say(Figure(name=f"replay of {STEPS:,} steps", value=percentile(replays, 0.5), unit="ms", most=100))

        def late(number: int, children: list[Child], times: int) -> list[float]:
            """How late the sleepers had ended, in ms, where starting one may take so many times as long."""
            clear()
            moment = clock.clock().now() + times * (AHEAD_MS + START_MS * number)
            for _ in range(number):
                toa.start("components.journeys.nap", {"until": moment})
            started = clock.clock().now()
            wait(lambda: EndedRun.objects.count() == number, children)
            in_time(moment, started)
            ends = EndedRun.objects.values_list("ended_at", flat=True)
            return [end.timestamp() * 1000 - moment for end in ends]

        for name, commands in (("beat and two workers", beat_and_workers()), ("toa run", toa_run())):
            with running(*commands) as children:
                # The first ones say that they are there, and warm them.
                patiently(partial(late, WARMING, children))
                found = patiently(partial(late, SLEEPERS, children))
            for share in (0.5, 0.99):
                label = f"lateness p{share * 100:.0f}, {SLEEPERS} sleepers due together, {name}"
                say(Figure(name=label, value=percentile(found, share), unit="ms"))

        def memory() -> float:
            """Of a process that looks for due work beside what is stored, in MB."""
            with running(*toa_run()) as children:
                toa.start("components.journeys.ponder", {"n": 1})
                wait(EndedRun.objects.exists, children)
                time.sleep(WATCHED_S)
                return resident(children[0].pid)

        clear()
        before = memory()
        clear()
        toa.start("components.journeys.nap", {"until": clock.clock().now() + 86_400_000})
        drain()
        assert not EndedRun.objects.exists()
        with connection.cursor() as cursor:
            cursor.execute(_LIKE_IT, [ASLEEP - 1])
            cursor.execute(_STEP_EACH)
            cursor.execute(_ASLEEP)
            cursor.execute(_SIZE)
            size = cursor.fetchone()[0] / 1_000_000
            cursor.execute("ANALYZE")
        assert Run.objects.count() == RunStep.objects.count() == ASLEEP
        share = ASLEEP / 100_000
        say(Figure(name=f"{ASLEEP:,} sleeping runs in the database", value=size, unit="MB", most=200 * share))
        more = memory() - before
        say(Figure(name=f"memory of toa run for {ASLEEP:,} sleeping runs", value=more, unit="MB", most=10))
        suspects.close()


if __name__ == "__main__":
    main()
