"""`make chaos` with few orders: all faults on, workers killed, and what must hold holds."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from django.db import connection

from shop.chaos.plan import FEWEST_KILLS
from shop.children import Child, end_all, manage

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

ORDERS = 60


@pytest.fixture
def without_chaos_database():
    yield
    parameters = connection.get_connection_params()
    named = {name: parameters[name] for name in ("dbname", "user", "password", "host", "port") if name in parameters}
    with psycopg.connect(**named, autocommit=True) as session:
        session.execute(f'DROP DATABASE IF EXISTS "{named["dbname"]}_chaos" WITH (FORCE)')


@pytest.mark.usefixtures("without_chaos_database")
def test_sixty_orders_come_to_their_ends_whatever_the_outside_does(process_environment, tmp_path: Path):
    environment = {**process_environment, "DJANGO_SETTINGS_MODULE": "config.settings"}
    command = manage("shop_chaos", "--orders", str(ORDERS), "--seed", "1")
    chaos = Child("chaos", command, environment=environment, log=tmp_path / "chaos.log")
    try:
        status = chaos.end()
    finally:
        end_all([chaos])
    said = chaos.last_words(80)
    assert status == 0, said
    assert "BROKEN" not in said
    assert f"all {ORDERS} orders are there" in said
    assert f"SIGKILLs: {FEWEST_KILLS};" in said
    assert "Faults met:" in said
