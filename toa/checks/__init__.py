"""What Django's system checks say about toa: manifests, models, settings, environment and database.

`manage.py check` and `manage.py toa check` show them; the server, `migrate` and the worker do not start over an
error. Each has an id (`toa.E…` or `toa.W…`, see `toa.checks.ids`), a place and a hint.
"""

from __future__ import annotations

from django.core import checks

TAG = "toa"


def register() -> None:
    """Register every check with Django. Called once, when the apps are ready."""
    from toa.checks import clocks, database, deadlines, manifests, models, settings, workflows

    for check in (
        manifests.check_manifests,
        manifests.check_apps,
        manifests.check_sorts,
        models.check_models,
        models.check_signals,
        settings.check_settings,
        settings.check_configuration,
        settings.check_environment,
        settings.check_cadence,
        clocks.check_clocks,
        workflows.check_replayed,
        workflows.check_awaited,
        database.check_declared,
    ):
        checks.register(check, TAG)
    checks.register(database.check_server, TAG, checks.Tags.database)
    checks.register(deadlines.check_indexes, TAG, checks.Tags.database)
    checks.register(deadlines.check_moments, TAG, checks.Tags.database)
