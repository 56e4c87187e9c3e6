"""The login of the checkout's admin: one user, whose password is made once and kept with the servers' data."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass

from django.contrib.auth import get_user_model

from config import servers

NAME = "demo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """What to type into the admin's form."""

    name: str
    password: str


def demo_login() -> Login:
    """The login, which works when this returns: the user is made, or given the checkout's password again."""
    password = _password()
    users = get_user_model()
    user, _ = users.objects.get_or_create(username=NAME)
    user.is_staff = user.is_superuser = user.is_active = True
    if not user.check_password(password):
        user.set_password(password)
    user.save()
    return Login(name=NAME, password=password)


def _password() -> str:
    place = servers.here()
    place.prepare()
    path = place.data / "demo_password"
    with suppress(FileNotFoundError):
        return path.read_text()
    path.touch(mode=0o600)
    path.write_text(secrets.token_urlsafe(9))
    return path.read_text()
