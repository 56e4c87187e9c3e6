"""A database and a part of the broker for each test run, so that two runs in one checkout never meet."""

import fcntl
import os
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from config import servers

# The broker of a plain installation has sixteen databases, and the first is for development.
SLOTS = range(15)


@pytest.fixture(scope="session")
def slot() -> Iterator[int]:
    """A number that no other test process of this checkout has. The kernel gives it back at our death."""
    place = servers.here()
    place.prepare()
    folder = place.data / "test-slots"
    folder.mkdir(exist_ok=True)
    for number in SLOTS:
        handle = os.open(folder / str(number), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            continue
        yield number
        os.close(handle)
        return
    pytest.exit(f"{len(SLOTS)} test processes run in this checkout already.", returncode=1)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(slot: int) -> None:
    """Name the test database for our slot. One that a killed run left is made anew by its next owner."""
    from django.conf import settings

    settings.DATABASES["default"]["TEST"]["NAME"] = f"test_toa_{slot}"


@pytest.fixture(scope="session", autouse=True)
def broker_url(slot: int) -> str:
    """The address of our own, empty, part of the broker; what is sent from tests goes there."""
    import redis
    from django.conf import settings

    from config.celery import app

    url = urlsplit(settings.CELERY_BROKER_URL)._replace(path=f"/{slot + 1}").geturl()
    with redis.Redis.from_url(url) as client:
        client.flushdb()
    settings.CELERY_BROKER_URL = url
    app.conf.broker_url = url
    return url


@pytest.fixture
def process_environment(transactional_db: None, broker_url: str) -> dict[str, str]:
    """Environment variables for processes of the project that share database and broker with the test."""
    from django.db import connection

    name = connection.settings_dict["NAME"]
    database = urlsplit(servers.database_url())._replace(path=f"/{name}").geturl()
    return {**os.environ, "DATABASE_URL": database, "REDIS_URL": broker_url}
