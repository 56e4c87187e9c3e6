"""Folders that stand for checkouts, with servers of their own."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from config.servers.lock import starting_alone
from config.servers.place import Place, find_place, temporary_folder
from config.servers.postgres import Postgres
from config.servers.valkey import Valkey


@pytest.fixture
def new_checkout() -> Iterator[Callable[[str], Path]]:
    """Makes empty checkouts by name, in a folder that every user can pass through."""
    above = Path(tempfile.mkdtemp(prefix="toa-test-", dir=temporary_folder())).resolve()
    above.chmod(0o755)

    def make(name: str) -> Path:
        (above / name).mkdir(mode=0o755)
        return above / name

    yield make
    for checkout in above.iterdir():
        place = find_place(checkout)
        if place.data.is_dir() and not place.data.is_symlink():
            with starting_alone(place):
                Postgres(place=place).stop()
                Valkey(place=place).stop()
        for folder in (place.data, place.sockets.parent):
            shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(above)


@pytest.fixture
def place(new_checkout: Callable[[str], Path]) -> Place:
    found = find_place(new_checkout("checkout"))
    found.prepare()
    return found


@pytest.fixture
def said() -> list[str]:
    """What was said to the person at the keyboard: hand its `append` to whatever says something."""
    return []
