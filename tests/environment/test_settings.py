"""The settings in development and in production, read by processes of their own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from config.servers import CHECKOUT

ELSEWHERE = {"DATABASE_URL": "postgresql://db.example/shop", "REDIS_URL": "redis://broker.example/0"}
PRODUCTION = ELSEWHERE | {"DJANGO_DEBUG": "0", "DJANGO_SECRET_KEY": "x" * 60, "DJANGO_ALLOWED_HOSTS": "a.example, b"}


def read(expression: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DJANGO_")}
    command = [sys.executable, "-c", f"from config import settings\nprint({expression})"]
    return subprocess.run(command, cwd=CHECKOUT, env=kept | variables, capture_output=True, text=True)


def test_production_asks_for_https_and_for_collected_files() -> None:
    expression = (
        "settings.SESSION_COOKIE_SECURE, settings.CSRF_COOKIE_SECURE, settings.SECURE_SSL_REDIRECT,"
        " settings.ALLOWED_HOSTS, settings.STATIC_ROOT.name, settings.DATABASES['default']['HOST'],"
        " settings.CELERY_BROKER_URL"
    )
    done = read(expression, PRODUCTION)
    assert done.stdout == ("True True True ['a.example', 'b'] staticfiles db.example redis://broker.example/0\n"), (
        done.stderr
    )


def test_production_without_a_secret_does_not_start() -> None:
    done = read("settings.SECRET_KEY", PRODUCTION | {"DJANGO_SECRET_KEY": ""})
    assert done.returncode == 1
    assert done.stderr.endswith("ImproperlyConfigured: Set DJANGO_SECRET_KEY: DEBUG is off.\n")


@pytest.mark.parametrize("value", ["true", "yes", "2"])
def test_a_switch_is_1_or_0(value: str) -> None:
    done = read("settings.DEBUG", ELSEWHERE | {"DJANGO_DEBUG": value})
    assert done.returncode == 1
    assert done.stderr.endswith(f"ImproperlyConfigured: DJANGO_DEBUG should be 1 or 0, not '{value}'.\n")


def test_development_has_a_secret_of_its_own_that_stays() -> None:
    first, second = (read("settings.SECRET_KEY", ELSEWHERE) for _ in range(2))
    assert len(first.stdout) > 50
    assert first.stdout == second.stdout


def test_a_server_that_cannot_be_had_is_told_in_a_sentence(new_checkout: Callable[[str], Path]) -> None:
    checkout = new_checkout("checkout")
    shutil.copytree(CHECKOUT / "config", checkout / "config")
    shutil.copy(CHECKOUT / "manage.py", checkout)
    (checkout / "few_settings.py").write_text("from config import servers\n\nservers.database_url()\n")
    (checkout / ".data").touch()
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=checkout,
        env={"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "few_settings"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == f"The servers cannot keep their files in {checkout / '.data'}: File exists.\n"
