"""Addresses of servers, as the settings need them."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

SCHEMES = {"postgres", "postgresql"}


def database_settings(url: str) -> dict[str, Any]:
    """An entry of `DATABASES` for `url`: `postgresql://user:password@host:port/name?option=value`.

    `?host=/a/folder` names the folder of a Unix socket. Every other option is handed to the driver.

    Raises:
        ImproperlyConfigured: it is no address of a PostgreSQL database. The message does not repeat it,
            since it may hold a password.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ImproperlyConfigured(f"DATABASE_URL cannot be read: {error}.") from None
    name = unquote(parts.path.removeprefix("/"))
    if parts.scheme not in SCHEMES or not name:
        raise ImproperlyConfigured("DATABASE_URL should read postgresql://user:password@host:port/name.")
    options: dict[str, Any] = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", None) or unquote(parts.hostname or ""),
        "PORT": str(port or ""),
        "OPTIONS": options,
    }
