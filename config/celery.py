"""The Celery app of the project: `celery -A config worker -Q toa,celery` and `celery -A config beat`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("config")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Celery keeps the current app for each thread; the default one counts in those that a web server starts.
app.set_default()
app.autodiscover_tasks()
