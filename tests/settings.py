"""The project's settings, plus the components that only tests use. `TOA_SETWISE=0` has calls fired one by one."""

import os

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS, TOA

INSTALLED_APPS = [
    *INSTALLED_APPS,
    "tests.components.tallies",
    "tests.components.ledgers",
    "tests.components.beacons",
    "tests.components.almanacs",
    "tests.components.claims",
    "tests.components.meters",
    "tests.components.reminders",
    "tests.components.couriers",
    "tests.components.hazards",
    "tests.components.seats",
    "tests.components.voyages",
    "tests.components.desks",
]
TOA = {
    **TOA,
    "CONFIGURATION": {"components.tallies": {"step": 2}},
    "SETWISE": os.environ.get("TOA_SETWISE", "1") == "1",
}
