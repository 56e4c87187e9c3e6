"""`python -m config.servers start | stop | status | remove`, for `make servers`, `stop` and `clean`."""

import argparse
import os
import shutil
import sys
from urllib.parse import urlsplit

from . import broker_url, database_url, here, say
from .lock import starting_alone
from .postgres import Postgres
from .problem import ServerProblem
from .valkey import Valkey


def start() -> None:
    """Both servers, ready."""
    database_url()
    broker_url()


def status() -> None:
    """Where each server is, and whether it runs. Passwords of servers elsewhere are left out."""
    place = here()
    for variable, server in (("DATABASE_URL", Postgres(place=place)), ("REDIS_URL", Valkey(place=place))):
        if given := os.environ.get(variable):
            print(f"{server.name:10} {variable} names {without_password(given)}")
        elif server.is_ready():
            print(f"{server.name:10} runs at {server.url}")
        else:
            print(f"{server.name:10} is not running")


def stop() -> None:
    """Neither server, and nothing lost."""
    place = here()
    if not place.data.exists():
        return
    with starting_alone(place):
        for server in (Postgres(place=place), Valkey(place=place)):
            if server.stop():
                say(f"Stopped {server.name}.")


def remove() -> None:
    """Neither server, and no trace of their data."""
    stop()
    place = here()
    for folder in {place.data, place.sockets}:
        shutil.rmtree(folder, ignore_errors=True)


def without_password(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


ACTIONS = {action.__name__: action for action in (start, stop, status, remove)}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m config.servers", description=__doc__)
    parser.add_argument("action", choices=ACTIONS)
    try:
        ACTIONS[parser.parse_args(arguments).action]()
    except ServerProblem as problem:
        say(str(problem))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
