"""Addresses of servers that are named by the environment."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import servers
from config.addresses import database_settings


def test_an_address_with_everything_in_it() -> None:
    url = "postgres://us%40er:pass%2Fword@db.example:5433/na%20me?sslmode=require&application_name=shop"
    assert database_settings(url) == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "na me",
        "USER": "us@er",
        "PASSWORD": "pass/word",
        "HOST": "db.example",
        "PORT": "5433",
        "OPTIONS": {"sslmode": "require", "application_name": "shop"},
    }


def test_an_address_of_a_unix_socket() -> None:
    settings = database_settings("postgresql://toa@/toa?host=/a/checkout%20here/.data/run")
    assert settings["HOST"] == "/a/checkout here/.data/run"
    assert settings["PORT"] == ""
    assert settings["OPTIONS"] == {}


@pytest.mark.parametrize(
    "url",
    [
        "mysql://user:secret@host/name",
        "postgresql://user:secret@host",
        "postgresql://user:secret@host:port/name",
        "postgresql://user:secret@[host/name",
        "secret",
    ],
)
def test_what_is_no_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^DATABASE_URL ") as refusal:
        database_settings(url)
    assert "secret" not in str(refusal.value)


def test_given_addresses_are_used_and_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: object) -> None:
        pytest.fail("a server was looked for")

    monkeypatch.setattr(servers, "address", start)
    given = {"DATABASE_URL": "postgresql://db/shop", "REDIS_URL": "redis://broker/0"}
    assert servers.database_url(given) == given["DATABASE_URL"]
    assert servers.broker_url(given) == given["REDIS_URL"]
