"""The project as an app: what it does when Django starts."""

from importlib import import_module

from django.apps import AppConfig


class ProjectConfig(AppConfig):
    """Makes the Celery app known in every process, so that a task sent from a request finds the broker."""

    name = "config"

    def ready(self) -> None:
        import_module("config.celery")
