"""Who opens the pages: a superuser, and people of the staff with and without permissions."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse


@pytest.fixture
def root(db):
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def staff(db):
    """A client of a person of the staff, given the names of the permissions that the person has."""

    def login(*permissions):
        user = User.objects.create_user(f"staff{User.objects.count()}", is_staff=True)
        user.user_permissions.set(Permission.objects.filter(content_type__app_label="toa", codename__in=permissions))
        client = Client()
        client.force_login(user)
        return client

    return login


@pytest.fixture
def address():
    """The address of a model's list, or, with a row, of one of the row's pages."""

    def of(model, row=None, page="change", **query):
        name = f"admin:toa_{model._meta.model_name}"
        if row is None:
            return reverse(f"{name}_{page if page == 'add' else 'changelist'}", query=query or None)
        return reverse(f"{name}_{page}", args=[row.pk])

    return of
