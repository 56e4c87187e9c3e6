"""The login of the checkout's admin."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.contrib.auth import get_user_model

from config import servers
from shop.visiting import demo_login


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    place = replace(servers.here(), data=tmp_path / "data", sockets=tmp_path / "data" / "run", as_other_user=False)
    monkeypatch.setattr(servers, "here", lambda: place)
    return place.data


def test_the_login_opens_the_admin_and_stays_the_same(db, own_folder, client):
    login = demo_login()

    assert client.login(username=login.name, password=login.password)
    assert client.get("/admin/").status_code == 200
    assert demo_login() == login
    assert (own_folder / "demo_password").stat().st_mode & 0o777 == 0o600


def test_a_user_whose_password_was_changed_gets_the_checkouts_again(db, own_folder, client):
    login = demo_login()
    user = get_user_model().objects.get(username=login.name)
    user.set_password("another")
    user.is_active = False
    user.save()

    assert demo_login() == login
    assert client.login(username=login.name, password=login.password)
