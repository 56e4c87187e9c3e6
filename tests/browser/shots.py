"""Pictures of every page of the admin, in light, in dark and on a phone: `make shots`.

They are taken from a shop of their own: a database that is made and removed, and real processes beside it.
"""

from __future__ import annotations

import os
import socket
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

CHECKOUT = Path(__file__).resolve().parents[2]
OUT = CHECKOUT / "build" / "shots"
DATABASE = "toa_shots"
UP_WITHIN_S = 30.0
MODES = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 800}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 800}},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}},
}


def main() -> int:
    sys.path.insert(0, str(CHECKOUT))
    from tests.browser.chromium import found, launched

    path = found()
    if path is None:
        print("No Chromium is here, so no pictures are taken (Debian, Ubuntu: apt-get install chromium).")
        return 1
    with _database() as url:
        os.environ.update(DATABASE_URL=url, DJANGO_SETTINGS_MODULE="config.settings")
        import django

        django.setup()
        with _processes() as base, launched(path) as browser:
            _take(browser, base)
    return 0


@contextmanager
def _database() -> Iterator[str]:
    """An empty database on the server that the checkout uses."""
    from config import servers

    here = servers.database_url()
    with psycopg.connect(here, autocommit=True) as server:
        name = sql.Identifier(DATABASE)
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        server.execute(sql.SQL("CREATE DATABASE {}").format(name))
        try:
            yield urlsplit(here)._replace(path=f"/{DATABASE}").geturl()
        finally:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


@contextmanager
def _processes() -> Iterator[str]:
    """The web and a runner, up; gives the address of the web."""
    from django.core.management import call_command
    from django.db import connections

    from shop.children import Child, end_all, manage

    call_command("migrate", verbosity=0)
    OUT.mkdir(parents=True, exist_ok=True)
    children: list[Child] = []
    try:
        port = _free_port()
        for name, command in (
            ("web", manage("runserver", "--noreload", str(port))),
            ("run", manage("toa", "run")),
        ):
            children.append(Child(name, command, environment=os.environ, log=OUT / f"{name}.log"))
        _answering(f"http://127.0.0.1:{port}/alive/", children)
        yield f"http://127.0.0.1:{port}"
    finally:
        connections.close_all()
        end_all(children)


def _take(browser: object, base: str) -> None:
    from shop.visiting import demo_login
    from tests.browser.seeding import seed

    seeded, login = seed(), demo_login()
    for mode, options in MODES.items():
        page = browser.new_page(base_url=base, **options)  # type: ignore[attr-defined]
        page.goto("/admin/")
        page.fill("#id_username", login.name)
        page.fill("#id_password", login.password)
        page.click("input[type=submit]")
        for name, address in _addresses(seeded):
            answer = page.goto(address)
            assert answer.ok, f"{address}: {answer.status}"
            page.screenshot(path=OUT / f"{name}-{mode}.png", full_page=True)
        _refused(page, mode)
        page.close()
        print(f"{mode}: {OUT}")


def _addresses(seeded: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Every list that is registered, and the pages that say most."""
    from django.contrib import admin

    yield "index", "/admin/"
    for model in admin.site._registry:
        label, name = model._meta.app_label, model._meta.model_name
        if label == "toa" or getattr(model, "component", None) is not None:
            yield f"list-{label}-{name}", f"/admin/{label}/{name}/"
    yield "order", f"/admin/store_orders/order/{seeded['order']}/change/"
    yield "process", f"/admin/store_lifecycle/process/{seeded['process']}/change/"
    yield "stock", "/admin/fulfilment_stock/stock/tea/change/"
    yield "assign", "/admin/fulfilment_stock/stock/tea/call/assign/"
    yield "terminate", f"/admin/store_orders/order/{seeded['order']}/call/terminate/"
    yield "failure", f"/admin/toa/failure/{seeded['failure']}/change/"


def _refused(page: object, mode: str) -> None:
    """A form whose call was refused."""
    page.goto("/admin/store_orders/order/call/create/")  # type: ignore[attr-defined]
    values = {"reference": "A-2000", "customer": "anna", "product": "tea", "quantity": "4", "total": "20000"}
    for name, value in values.items():
        page.fill(f"[name=call-input-{name}]", value)  # type: ignore[attr-defined]
    page.click("text=Call create")  # type: ignore[attr-defined]
    page.screenshot(path=OUT / f"refused-{mode}.png", full_page=True)  # type: ignore[attr-defined]


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _answering(address: str, children: list[object]) -> None:
    give_up = time.monotonic() + UP_WITHIN_S
    while time.monotonic() < give_up:
        with suppress(OSError), urllib.request.urlopen(address, timeout=5):
            return
        for child in children:
            assert not child.is_over(), child.last_words()  # type: ignore[attr-defined]
        time.sleep(0.1)
    raise SystemExit("The web did not come up.")


if __name__ == "__main__":
    sys.exit(main())
