"""Ctrl-C on `make demo` and `make run`: whatever they started has ended."""

from __future__ import annotations

import signal
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from django.db import connection

from shop.children import Child, manage
from tests.orders.placing import place

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

WITHIN_S = 45.0


@pytest.fixture
def start(process_environment: dict[str, str], tmp_path: Path) -> Iterator[Callable[..., Child]]:
    environment = {**process_environment, "DJANGO_SETTINGS_MODULE": "config.settings"}
    children: list[Child] = []

    def start(*arguments: str) -> Child:
        child = Child(arguments[0], manage(*arguments), environment=environment, log=tmp_path / "command.log")
        children.append(child)
        return child

    yield start
    for child in children:
        child.kill()


@pytest.fixture
def without_demo_database() -> Iterator[None]:
    yield
    parameters = connection.get_connection_params()
    named = {name: parameters[name] for name in ("dbname", "user", "password", "host", "port") if name in parameters}
    with psycopg.connect(**named, autocommit=True) as session:
        session.execute(f'DROP DATABASE IF EXISTS "{named["dbname"]}_demo" WITH (FORCE)')


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.usefixtures("without_demo_database")
def test_an_interrupted_demo_leaves_no_process_and_says_so(start, number):
    demo = start("shop_demo")
    wait_for(lambda: "Orders come in" in demo.last_words(), demo)
    started = psutil.Process(demo.pid).children(recursive=True)
    assert len(started) >= 3

    psutil.Process(demo.pid).send_signal(number)
    wait_for(demo.is_over)
    assert demo.end() == 130
    assert f"Stopped by {number.name}; nothing of the demo runs any more." in demo.last_words()
    # The children of a worker that was killed end when they notice it, a moment later.
    wait_for(lambda: not any(process.is_running() for process in started))


def test_an_interrupted_shop_leaves_no_process(start, db):
    place("A-1")
    port = str(free_port())
    shop = start("shop_run", "--port", port)
    wait_for(lambda: "The shop runs." in shop.last_words(), shop)
    with urllib.request.urlopen(f"http://localhost:{port}/alive/", timeout=10) as answer:
        assert answer.read() == b"ok"
    started = psutil.Process(shop.pid).children(recursive=True)
    assert len(started) >= 4

    psutil.Process(shop.pid).send_signal(signal.SIGINT)
    wait_for(shop.is_over)
    assert shop.end() == 0
    # The children of a worker that was killed end when they notice it, a moment later.
    wait_for(lambda: not any(process.is_running() for process in started))


def test_a_taken_port_is_told_in_a_sentence_and_nothing_is_started(start):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        shop = start("shop_run", "--port", str(port))
        assert shop.end() == 1

    assert shop.last_words() == (
        f"CommandError: Port {port} is taken by another program. Stop it, or choose another: PORT=8001 make run"
    )


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def wait_for(fact: Callable[[], bool], child: Child | None = None) -> None:
    give_up = time.monotonic() + WITHIN_S
    while not fact():
        assert child is None or not child.is_over(), child.last_words()
        assert time.monotonic() < give_up, "it did not happen in time"
