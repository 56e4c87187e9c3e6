"""DBOS: workflows of one empty step, in one process.

python -m benchmarks peers.dbos_workflows
"""

from __future__ import annotations

import time

from dbos import DBOS

from benchmarks.harness import QUICK, Figure, database, say

WORKFLOWS = 200 if QUICK else 1_000


@DBOS.step()
def step() -> int:
    """Does nothing."""
    return 1


@DBOS.workflow()
def workflow() -> int:
    """One step."""
    return step()


def main() -> None:
    with database():
        from benchmarks.processes import environment

        address = environment()["DATABASE_URL"].replace("postgresql://", "postgresql+psycopg://")
        DBOS(config={"name": "bench", "system_database_url": address, "log_level": "ERROR"})
        DBOS.launch()
        began = time.perf_counter()
        for handle in [DBOS.start_workflow(workflow) for _ in range(WORKFLOWS)]:
            handle.get_result()
        rate = WORKFLOWS / (time.perf_counter() - began)
        DBOS.destroy()
        say(Figure(name="DBOS: workflows of one step", value=rate, unit="/s"))


if __name__ == "__main__":
    main()
