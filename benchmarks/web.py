"""A request for one object and one change of it, through gunicorn, beside DRF views written by hand.

python -m benchmarks web
"""

from __future__ import annotations

import http.client
import json
import socket
from uuid import UUID

from benchmarks.databases import database
from benchmarks.harness import QUICK, Figure, say, side_by_side
from config.servers.valkey import free_port

RATIO = 0.9
"""The least rate, as a share of that of the views written by hand."""
SITE = "benchmarks.site.settings"


def main() -> None:
    with database(SITE):
        from django.contrib.auth.models import User
        from django.db import connection

        from benchmarks.components.meters.models import Meter
        from benchmarks.processes import running, wait

        User.objects.create_user("bench")
        meter = Meter.objects.create(id=UUID(int=7), count=0)
        connection.close()
        port = free_port()
        with running(_gunicorn(port), settings_module=SITE) as children:
            wait(lambda: _answers(port), children)
            asking = http.client.HTTPConnection("127.0.0.1", port)

            def ask(method: str, path: str, status: int, body: object = None) -> None:
                headers = {"X-Name": "bench", "Content-Type": "application/json"}
                asking.request(method, path, None if body is None else json.dumps(body), headers)
                response = asking.getresponse()
                content = response.read()
                assert response.status == status, (response.status, content)

            ours, hand = f"/api/components/meters/{meter.id.hex}/", f"/hand/{meter.id}/"
            by = {"by": 0}
            taken = side_by_side(
                {
                    "GET by id, by hand": lambda: ask("GET", hand, 200),
                    "GET by id": lambda: ask("GET", ours, 200),
                    "POST of a transition, by hand": lambda: ask("POST", f"{hand}add/", 204, by),
                    "POST of a transition": lambda: ask("POST", f"{ours}add/", 204, by),
                },
                number=60 if QUICK else 200,
                rounds=5 if QUICK else 15,
            )
        for name, seconds in taken.items():
            say(Figure(name=f"gunicorn: {name}", value=1 / seconds, unit="/s"))
        for name in ("GET by id", "POST of a transition"):
            share = taken[f"{name}, by hand"] / taken[name]
            say(Figure(name=f"gunicorn: {name}, beside DRF by hand", value=share, unit="x", least=RATIO))


def _gunicorn(port: int) -> list[str]:
    return [
        *("-m", "gunicorn", "config.wsgi", "--workers", "1", "--threads", "2", "--worker-class", "gthread"),
        *("--bind", f"127.0.0.1:{port}", "--keep-alive", "60", "--log-level", "warning"),
    ]


def _answers(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    main()
