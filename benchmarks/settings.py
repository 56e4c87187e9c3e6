"""The project's settings with the components of the benchmarks, and without the shop's work."""

from config.settings import *  # noqa: F403
from config.settings import COMPONENTS
from config.settings import INSTALLED_APPS as PROJECT

INSTALLED_APPS = [
    *(app for app in PROJECT if app not in COMPONENTS),
    "benchmarks.components.meters",
    "benchmarks.components.gauges",
    "benchmarks.components.journeys",
    "benchmarks.components.timers",
    "benchmarks.components.errands",
]
LOGGING = {"version": 1, "disable_existing_loggers": False}
TOA: dict[str, object] = {}
