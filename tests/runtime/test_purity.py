"""The guard of the testing kit over functions that must be pure."""

import socket
import threading

import pytest

import toa
from tests.components.tallies.models import Tally
from toa.testing.purity import Impure, pure

pytestmark = pytest.mark.django_db

TALLIES = "components.tallies"


@pytest.fixture
def tally(toa_clock):
    return toa.call(f"{TALLIES}.create", {"name": "first"})["id"]


@pytest.mark.parametrize(
    ("how", "did"),
    [("query", "queried the database: SELECT"), ("socket", "opened a socket to")],
    ids=["query", "socket"],
)
def test_M15_a_transition_that_is_not_pure_fails_the_test_and_says_where(tally, how, did):
    with pytest.raises(Impure, match=did) as caught:
        toa.call(f"{TALLIES}.peek", {"how": how}, id=tally)
    line = {"query": 11, "socket": 14}[how]
    assert f"tests/components/tallies/operations/peek.py:{line}" in str(caught.value)
    assert Tally.objects.get().count == 0


def test_M15_it_fails_the_test_also_where_a_pass_runs_it(tally, toa_clock):
    request = {"query": {"id": tally}, "input": {"how": "query"}}
    for _ in range(2):
        toa.delay(f"{TALLIES}.peek", request, interval="1m", overdue=None)
    with pytest.raises(Impure):
        toa_clock.advance("1h")


def test_M15_the_guard_is_off_outside_the_function(tally):
    toa.call(f"{TALLIES}.peek", {"how": "well"}, id=tally)
    assert Tally.objects.get().count == 1


def test_M15_functions_of_several_threads_at_once_leave_sockets_as_they_were():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = listening.getsockname()
        one, other = pure(), pure()
        one.__enter__()
        came, may_go = threading.Event(), threading.Event()

        def beside():
            # Nothing pure runs in this thread yet, and it connects while something does in the other one.
            socket.create_connection(address).close()
            with other:
                came.set()
                assert may_go.wait(30)

        thread = threading.Thread(target=beside)
        thread.start()
        assert came.wait(30)
        with pytest.raises(Impure), socket.socket() as mine:
            mine.connect(address)
        # The first to come is the first to go.
        one.__exit__(None, None, None)
        may_go.set()
        thread.join()
        socket.create_connection(address).close()
