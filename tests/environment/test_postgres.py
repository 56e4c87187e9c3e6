"""The embedded PostgreSQL, through everything that happens to a server on a developer's machine."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from config.servers.lock import starting_alone
from config.servers.place import Place, find_place
from config.servers.postgres import PROGRAM, Postgres
from config.servers.problem import ServerProblem
from config.servers.processes import working_in

pytestmark = pytest.mark.processes


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOA_FAST_DATABASE", "1")


def start(place: Place, said: list[str] | None = None) -> Postgres:
    server = Postgres(place=place)
    with starting_alone(place):
        server.start(say=[].append if said is None else said.append)
    return server


def ask(server: Postgres, statement: str) -> str:
    with psycopg.connect(server.url, autocommit=True) as connection:
        row = connection.execute(statement).fetchone()
        assert row is not None
        return str(row[0])


def leave_a_mark(server: Postgres) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE mark AS SELECT 1")


def has_mark(server: Postgres) -> bool:
    return ask(server, "SELECT to_regclass('mark') IS NOT NULL") == "True"


def main_process(server: Postgres) -> psutil.Process:
    return working_in(server.place.postgres, PROGRAM)[0]


def kill(process: psutil.Process) -> None:
    process.kill()
    psutil.wait_procs([process], timeout=30)


def test_a_first_start_makes_a_database_like_a_production_one(place: Place, said: list[str]) -> None:
    server = start(place, said)
    assert said == [f"Creating a PostgreSQL 18 database in {place.postgres}."]
    assert ask(server, "SHOW server_version").startswith("18")
    assert ask(server, "SHOW timezone") == "UTC"
    assert ask(server, "SHOW autovacuum") == "on"
    assert ask(server, "SHOW synchronous_commit") == "on"
    assert ask(server, "SHOW max_connections") == "200"
    assert ask(server, "SHOW shared_buffers") == "256MB"
    assert ask(server, "SHOW listen_addresses") == ""
    assert ask(server, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") == "False"
    assert ask(server, "SELECT rolcreatedb FROM pg_roles WHERE rolname = current_user") == "True"
    assert ask(server, "SELECT 'a' < 'B' COLLATE \"default\"") == "False"


@pytest.mark.parametrize(("variable", "fsync"), [(None, "on"), ("CI", "off"), ("TOA_FAST_DATABASE", "off")])
def test_what_is_written_reaches_the_disk_unless_speed_was_asked_for(
    place: Place, monkeypatch: pytest.MonkeyPatch, variable: str | None, fsync: str
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("TOA_FAST_DATABASE", raising=False)
    if variable:
        monkeypatch.setenv(variable, "1")
    assert ask(start(place), "SHOW fsync") == fsync


def test_other_users_cannot_reach_data_or_socket(place: Place) -> None:
    start(place)
    for folder in (place.postgres, place.sockets):
        assert folder.stat().st_mode & 0o077 == 0


def test_a_second_start_finds_the_running_server(place: Place, said: list[str]) -> None:
    process = main_process(start(place))
    said.clear()
    server = start(place, said)
    assert said == []
    assert main_process(server) == process


def test_a_stopped_server_starts_again_with_its_data(place: Place) -> None:
    server = start(place)
    leave_a_mark(server)
    assert server.stop()
    assert not server.is_ready()
    assert not server.stop()
    assert has_mark(start(place))


def test_a_killed_server_starts_again_with_its_data(place: Place) -> None:
    server = start(place)
    leave_a_mark(server)
    kill(main_process(server))
    assert not server.is_ready()
    assert has_mark(start(place))


def test_a_server_killed_with_all_its_processes_starts_again(place: Place) -> None:
    server = start(place)
    leave_a_mark(server)
    processes = working_in(place.postgres, PROGRAM)
    for process in processes:
        # A worker of the server may end by itself, and the others end when the first of them does.
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes, timeout=30)
    assert has_mark(start(place))


def test_a_process_number_that_somebody_else_has_by_now_does_not_matter(place: Place) -> None:
    server = start(place)
    kill(main_process(server))
    # As after a restart of the machine: the number of the dead server belongs to a living stranger.
    for path in (server.cluster.pid_file, Path(f"{place.socket}.lock")):
        first, _, rest = path.read_text().partition("\n")
        assert first.strip().isdigit()
        path.write_text(f"{os.getpid()}\n{rest}")
    assert not server.is_ready()
    assert main_process(start(place)).pid != os.getpid()
    assert psutil.pid_exists(os.getpid())


def test_a_server_whose_folder_was_deleted_is_replaced(place: Place, said: list[str]) -> None:
    process = main_process(start(place))
    shutil.rmtree(place.data)
    place.prepare()
    server = start(place, said)
    assert f"Replacing a left-over PostgreSQL of this checkout (process {process.pid})." in said
    assert main_process(server) != process
    assert process not in working_in(place.postgres, PROGRAM)


def test_two_checkouts_side_by_side_have_servers_of_their_own(new_checkout: Callable[[str], Path]) -> None:
    first, second = (start(find_place(new_checkout(name))) for name in ("a", "b"))
    leave_a_mark(first)
    assert not has_mark(second)
    second.stop()
    assert first.is_ready()


def copy(place: Place, checkout: Path) -> Place:
    """Copy the data as `cp -r` does, the socket left out: no plain copy has one."""
    shutil.copytree(place.data, checkout / ".data", ignore=shutil.ignore_patterns("run"))
    return find_place(checkout)


def test_a_database_copied_while_it_ran_is_set_aside(
    place: Place, new_checkout: Callable[[str], Path], said: list[str]
) -> None:
    original = start(place)
    leave_a_mark(original)
    copied = copy(place, new_checkout("copy"))
    server = start(copied, said)
    assert said[0] == (
        f"The database was copied from {place.checkout} while its server ran: set aside as postgres.copied."
    )
    assert (copied.data / "postgres.copied" / "PG_VERSION").exists()
    assert not has_mark(server)
    assert has_mark(original)


def test_a_database_copied_while_it_was_stopped_is_used(
    place: Place, new_checkout: Callable[[str], Path], said: list[str]
) -> None:
    original = start(place)
    leave_a_mark(original)
    original.stop()
    server = start(copy(place, new_checkout("copy")), said)
    assert said == []
    assert has_mark(server)
    assert not original.is_ready()


def test_a_checkout_moved_after_a_crash_keeps_its_data(place: Place, said: list[str]) -> None:
    server = start(place)
    leave_a_mark(server)
    kill(main_process(server))
    server.stop()
    moved = place.checkout.rename(place.checkout.with_name("moved"))
    assert has_mark(start(find_place(moved), said))
    assert said == []


def test_the_data_of_another_version_are_told_in_a_sentence_and_left_alone(place: Place) -> None:
    server = start(place)
    server.stop()
    (place.postgres / "PG_VERSION").write_text("16\n")
    with pytest.raises(ServerProblem, match=r"was made by PostgreSQL 16, and the server here is 18\."):
        start(place)
    assert (place.postgres / "PG_VERSION").read_text() == "16\n"


def test_a_broken_database_is_told_in_a_sentence_with_its_log(place: Place) -> None:
    server = start(place)
    server.stop()
    (place.postgres / "global" / "pg_control").unlink()
    with pytest.raises(ServerProblem, match=r"^PostgreSQL did not start: .+ Its log is .*server\.log\.$"):
        start(place)


def test_a_creation_that_was_interrupted_is_made_again(place: Place) -> None:
    unfinished = place.data / "postgres.unfinished"
    (unfinished / "base").mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    assert start(place).is_ready()
    assert not unfinished.exists()


def test_a_start_that_was_interrupted_before_the_database_existed_is_completed(place: Place) -> None:
    server = start(place)
    with psycopg.connect(server.url.replace("toa@/toa", "postgres@/postgres"), autocommit=True) as connection:
        connection.execute("DROP DATABASE toa")
        connection.execute("DROP ROLE toa")
    server.cluster.record.unlink()
    assert not server.is_ready()
    assert ask(start(place), "SELECT current_user") == "toa"


def test_a_socket_that_nobody_listens_on_is_no_server(place: Place) -> None:
    place.sockets.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place.socket))
    assert place.socket.is_socket()
    assert not Postgres(place=place).is_ready()
    assert start(place).is_ready()


STARTER = """
import sys
from pathlib import Path
from config.servers.lock import starting_alone
from config.servers.place import find_place
from config.servers.postgres import Postgres

server = Postgres(place=find_place(Path(sys.argv[1])))
with starting_alone(server.place):
    server.start(say=print)
"""


def test_of_processes_that_start_at_once_one_starts_the_server(place: Place) -> None:
    command = [sys.executable, "-c", STARTER, str(place.checkout)]
    starters = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [starter.communicate(timeout=60)[0] for starter in starters]
    assert [starter.returncode for starter in starters] == [0, 0, 0]
    assert "".join(outputs) == f"Creating a PostgreSQL 18 database in {place.postgres}.\n"


def test_a_server_outlives_the_process_group_that_started_it(place: Place) -> None:
    command = [sys.executable, "-c", f"{STARTER}\nprint('up', flush=True)\nsys.stdin.read()", str(place.checkout)]
    starter = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    with starter:
        assert starter.stdout is not None
        while starter.stdout.readline() != "up\n":
            assert starter.poll() is None
        os.killpg(starter.pid, signal.SIGKILL)
    assert Postgres(place=place).is_ready()
