"""A browser for all tests of this folder, and a page in it for each, before the live server of pytest-django."""

from __future__ import annotations

import os

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.browser import chromium

PASSWORD = "correct horse"


@pytest.fixture(scope="module")
def browser():
    # Not for longer: the loop that it runs in this thread is nothing for other tests.
    path = chromium.found()
    if path is None:
        pytest.skip("no Chromium is here, so no page was looked at (Debian, Ubuntu: apt-get install chromium)")
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    with chromium.launched(path) as running:
        yield running
    if before is None:
        os.environ.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)


@pytest.fixture
def context(browser, live_server):
    """What a person has open; it fails the test where a page asks any other host for anything, or logs an error."""
    made = browser.new_context(base_url=live_server.url)
    made.set_default_timeout(15_000)
    asked, errors = [], []
    made.on("request", lambda request: asked.append(request.url))
    made.on("weberror", lambda error: errors.append(str(error.error)))
    yield made
    made.close()
    assert [url for url in asked if not url.startswith(live_server.url)] == []
    assert errors == []


@pytest.fixture
def page(context):
    return context.new_page()


@pytest.fixture
def root(transactional_db):
    return User.objects.create_superuser("root", password=PASSWORD)


@pytest.fixture
def entered(context, page, live_server):
    """The page of somebody who has logged in already; given a superuser, or names of permissions of a new user."""

    def enter(*permissions, user=None):
        if user is None:
            user = User.objects.create_user("staff", is_staff=True)
            user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
        client = Client()
        client.force_login(user)
        value = client.cookies[settings.SESSION_COOKIE_NAME].value
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": value, "url": live_server.url}])
        return page

    return enter
