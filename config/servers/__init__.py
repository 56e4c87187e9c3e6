"""The servers of a checkout: PostgreSQL and Valkey, real ones, in a folder that git ignores.

Whoever needs one asks for its address. A server that runs is found within a millisecond or two; one that
does not is started, by one process alone, and stays until `make stop`. `DATABASE_URL` and `REDIS_URL` name
servers elsewhere, and nothing is started here in their place. `TOA_SERVERS=off` gives addresses and starts
nothing, for tools that read the settings and connect to nothing.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from .lock import starting_alone
from .place import Place, find_place
from .postgres import Postgres
from .problem import ServerProblem
from .secret import secret_key
from .valkey import Valkey

__all__ = ["ServerProblem", "broker_url", "database_url", "development_secret", "here"]

CHECKOUT = Path(__file__).resolve().parents[2]


def here() -> Place:
    """The place of this checkout's servers."""
    return find_place(CHECKOUT)


def database_url(environ: Mapping[str, str] = os.environ) -> str:
    """The address of the database, which is ready when this returns.

    Raises:
        ServerProblem: it cannot be started.
    """
    return environ.get("DATABASE_URL") or address(Postgres(place=here()), environ)


def broker_url(environ: Mapping[str, str] = os.environ) -> str:
    """The address of the broker, which is ready when this returns.

    Raises:
        ServerProblem: it cannot be started.
    """
    return environ.get("REDIS_URL") or address(Valkey(place=here()), environ)


def development_secret() -> str:
    """A secret for Django where none was given, kept with the servers' data."""
    return secret_key(here())


def address(server: Postgres | Valkey, environ: Mapping[str, str]) -> str:
    if environ.get("TOA_SERVERS") != "off" and not server.is_ready():
        with starting_alone(server.place):
            server.start(say=say)
    return server.url


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
