"""The project's settings, plus the components that only tests use."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS, TOA

INSTALLED_APPS = [
    *INSTALLED_APPS,
    "tests.components.tallies",
    "tests.components.ledgers",
    "tests.components.beacons",
    "tests.components.almanacs",
    "tests.components.claims",
    "tests.components.reminders",
    "tests.components.couriers",
    "tests.components.hazards",
]
TOA = {**TOA, "CONFIGURATION": {"components.tallies": {"step": 2}}}
