"""The compose file: what it must say for the shop to run, beside being a compose file."""

from typing import Any

import pytest
import yaml
from django.conf import settings

from config.servers import CHECKOUT

LONG_RUNNING = {"postgres", "valkey", "web", "worker", "caller", "beat"}


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load((CHECKOUT / "docker-compose.yml").read_text())["services"]
    return found


def test_everything_that_stays_has_a_health_check_and_comes_back(services: dict[str, dict[str, Any]]) -> None:
    assert set(services) == LONG_RUNNING | {"migrate"}
    for name in LONG_RUNNING:
        assert services[name]["restart"] == "unless-stopped"
        assert services[name]["healthcheck"]["test"][0] == "CMD"


def test_there_are_two_of_each_that_may_be_there_twice(services: dict[str, dict[str, Any]]) -> None:
    assert {name for name in services if services[name].get("deploy", {}).get("replicas") == 2} == {
        "worker",
        "caller",
        "beat",
    }


def test_every_queue_has_workers_and_leased_calls_have_their_own(services: dict[str, dict[str, Any]]) -> None:
    queues = {
        name: option.partition("=")[2].split(",")
        for name in services
        for option in services[name].get("command", [])
        if option.startswith("--queues=")
    }
    routed = {route["queue"] for route in settings.CELERY_TASK_ROUTES.values()}
    assert {queue for of_one in queues.values() for queue in of_one} == routed | {settings.CELERY_TASK_DEFAULT_QUEUE}
    assert queues["caller"] == ["toa.calls"]
    assert "toa.calls" not in queues["worker"]


def test_the_database_is_of_the_version_that_tests_run_on(services: dict[str, dict[str, Any]]) -> None:
    from config.servers.programs import POSTGRES_MAJOR

    assert services["postgres"]["image"] == f"postgres:{POSTGRES_MAJOR}"


def test_everything_that_is_imported_goes_into_the_image() -> None:
    ignored = (CHECKOUT / ".dockerignore").read_text().splitlines()
    packages = {app.partition(".")[0] for app in settings.INSTALLED_APPS if not app.startswith("tests.")}
    ours = {package for package in packages if (CHECKOUT / package).is_dir()}
    assert {f"!{package}" for package in ours} <= set(ignored)
