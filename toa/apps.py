"""The app configs: of toa itself, and the base of every component's."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig, apps
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models.signals import post_migrate
from django.utils.autoreload import autoreload_started

from toa.manifests import registry
from toa.reloading import watch


class ToaConfig(AppConfig):
    """toa as an installed app."""

    name = "toa"
    verbose_name = "Work on the clock"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Models are loaded now, and not before.
        from toa import workflow
        from toa.checks import register
        from toa.models import Entity
        from toa.runtime.operations import OperationsOfModel

        register()
        workflow.install()
        Entity.operations = OperationsOfModel()
        post_migrate.connect(_sync, sender=self)
        post_migrate.connect(_permit, sender=self)
        autoreload_started.connect(watch)


class ComponentConfig(AppConfig):
    """Base of a component's app config; name and label follow from the package that holds it.

    ::

        class OrdersConfig(ComponentConfig):
            \"\"\"store.orders\"\"\"
    """

    # Django takes the one config that `apps.py` holds; this base, imported there, is no candidate.
    default = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.default = cls.__dict__.get("default", True)
        package = cls.__module__.rpartition(".")[0]
        spec = registry.component_of_package(package)
        cls.name = package
        cls.label = spec.label if spec is not None else "_".join(package.split(".")[-2:])

    def ready(self) -> None:
        registry.register([self.name])


def _sync(using: str = DEFAULT_DB_ALIAS, **_: Any) -> None:
    # Models are not loaded yet when this module is.
    from toa.cadence.syncing import sync
    from toa.models import Pulse
    from toa.runtime import settings

    # Migrating toa itself back to nothing leaves no table to write to.
    if using == settings.alias() and Pulse._meta.db_table in connections[using].introspection.table_names():
        sync()


def _permit(using: str = DEFAULT_DB_ALIAS, **_: Any) -> None:
    if not apps.is_installed("django.contrib.auth"):
        return
    from django.contrib.auth.models import Permission

    from toa.runtime import settings
    from toa.runtime.permissions import create_permissions

    if using == settings.alias() and Permission._meta.db_table in connections[using].introspection.table_names():
        create_permissions(using)
