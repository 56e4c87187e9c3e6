"""toa without the extra `[rest]`."""

from __future__ import annotations

import subprocess
import sys

from config.servers import CHECKOUT

PROGRAM = """
import importlib.abc, sys

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("rest_framework", "drf_spectacular", "uritemplate", "inflection"):
            raise ImportError(f"{name} is not installed")

sys.meta_path.insert(0, Missing())

from django.conf import settings
settings.configure(
    INSTALLED_APPS=[
        "django.contrib.admin",
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.messages",
        "django.contrib.sessions",
        "toa",
        "store.orders",
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "none"}},
    USE_TZ=True,
)
import django
django.setup()

import pkgutil, toa
for module in pkgutil.walk_packages(toa.__path__, "toa."):
    if module.name.split(".")[1] not in ("rest", "beat", "tasks", "contrib", "__main__"):
        __import__(module.name)
from toa import call, Error
try:
    import toa.rest.views
except ImportError as error:
    print("refused:", error)
"""


def test_everything_but_the_adapter_is_there_without_the_framework():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused: rest_framework")
