"""The embedded Valkey: its port, and everything that happens to a server on a developer's machine."""

import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import redis

from config.servers.lock import starting_alone
from config.servers.place import Place, find_place
from config.servers.processes import working_in
from config.servers.valkey import HOST, PROGRAM, Valkey

pytestmark = pytest.mark.processes


def start(place: Place, said: list[str] | None = None) -> Valkey:
    server = Valkey(place=place)
    with starting_alone(place):
        server.start(say=[].append if said is None else said.append)
    return server


def setting(server: Valkey, name: str) -> str:
    with redis.Redis.from_url(server.url, decode_responses=True) as client:
        return str(client.config_get(name)[name])


def main_process(server: Valkey) -> psutil.Process:
    (process,) = working_in(server.place.valkey, PROGRAM)
    return process


def kill(process: psutil.Process) -> None:
    process.kill()
    psutil.wait_procs([process], timeout=30)


def test_a_first_start_makes_a_broker_on_loopback_behind_a_password(place: Place, said: list[str]) -> None:
    server = start(place, said)
    assert said == []
    assert setting(server, "bind") == HOST
    assert setting(server, "save") == ""
    assert setting(server, "appendonly") == "no"
    with socket.create_connection((HOST, server.port() or 0)) as stranger:
        stranger.sendall(b"PING\r\n")
        assert stranger.recv(64).startswith(b"-NOAUTH")


def test_a_second_start_finds_the_running_server(place: Place) -> None:
    process = main_process(start(place))
    assert main_process(start(place)) == process


def test_a_server_starts_again_on_its_port_after_a_stop_and_after_a_kill(place: Place) -> None:
    server = start(place)
    port = server.port()
    assert server.stop()
    assert not server.is_ready()
    assert not server.stop()
    assert start(place).port() == port
    kill(main_process(server))
    assert not server.is_ready()
    assert start(place).port() == port
    assert server.is_ready()


def test_a_port_that_another_program_took_is_given_up_with_a_sentence(place: Place, said: list[str]) -> None:
    server = start(place)
    port = server.port()
    server.stop()
    with socket.create_server((HOST, port or 0)):
        assert not server.is_ready()
        start(place, said)
    assert said == [f"Port {port}, where Valkey was, is taken by another program: it moves to a free one."]
    assert server.port() != port
    assert server.is_ready()


def test_a_copied_checkout_does_not_take_the_broker_of_the_original(
    place: Place, new_checkout: Callable[[str], Path]
) -> None:
    original = start(place)
    copy = new_checkout("copy")
    shutil.copytree(place.data, copy / ".data")
    assert not Valkey(place=find_place(copy)).is_ready()
    copied = start(find_place(copy))
    assert copied.port() != original.port()
    assert original.is_ready()


def test_a_server_of_a_checkout_that_was_moved_is_replaced(place: Place, said: list[str]) -> None:
    process = main_process(start(place))
    moved = find_place(place.checkout.rename(place.checkout.with_name("moved")))
    server = start(moved, said)
    assert said[0] == f"Replacing a left-over Valkey of this checkout (process {process.pid})."
    assert main_process(server) != process
    assert server.is_ready()


@pytest.mark.parametrize("content", ["", "nonsense", "0", "99999999"])
def test_a_damaged_note_of_the_port_is_no_port(place: Place, content: str) -> None:
    place.valkey.mkdir(mode=0o700)
    (place.valkey / "port").write_text(content)
    assert not Valkey(place=place).is_ready()
    assert start(place).is_ready()
