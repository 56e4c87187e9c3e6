"""People who call, and an order of one of them."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from tests.rest.calling import Api


@pytest.fixture
def anna(toa_clock: Any) -> Api:
    """A customer, logged in."""
    return api_of("anna")


@pytest.fixture
def bob(toa_clock: Any) -> Api:
    """Another customer, logged in."""
    return api_of("bob")


@pytest.fixture
def nobody(toa_clock: Any) -> Api:
    return Api(Client(raise_request_exception=False))


def api_of(username: str, **options: Any) -> Api:
    user, _ = get_user_model().objects.get_or_create(username=username, defaults=options)
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return Api(client)
