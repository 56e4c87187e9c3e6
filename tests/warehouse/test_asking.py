"""What the shop asks the warehouse, over one well-kept connection."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace

import pytest

import toa
from shop.outside.client import Client, Terms
from shop.outside.problems import NoAnswer, NotTaken
from shop.warehouse.server import Warehouse
from tests.warehouse.outside import PATIENT, TOKEN, configured, outside
from toa.exceptions import InvalidConfiguration

STATUS, PICK, INVENTORY = (f"fulfilment.warehouse.{name}" for name in ("status", "pick", "inventory"))
ORDER = "0190aa00/weird order"
TERMS = Terms(address="http://127.0.0.1:1", token=TOKEN, connect_s=1, read_s=1, whole_s=1, largest=1000)
GOODS = {"order": ORDER, "product": "tea", "quantity": 2}


def test_the_inventory_comes_in_pages(db):
    with outside() as warehouse:
        warehouse.ledger.set_shelves({"tea": 3, "mint": 0, "größe 7": 12})

        first = toa.call(INVENTORY, {"limit": 2})
        second = toa.call(INVENTORY, {"limit": 2, "after": first.next})

    shown = [{"product": "größe 7", "available": 12}, {"product": "mint", "available": 0}]
    assert first == {"items": shown, "next": "mint"}
    assert second == {"items": [{"product": "tea", "available": 3}], "next": None}


def test_an_order_whose_answer_was_lost_is_picked_once(db):
    with outside() as warehouse:
        warehouse.ledger.set_shelves({"tea": 5})
        assert toa.call(STATUS, {"order": ORDER}) == {"order": ORDER, "status": "unknown"}
        warehouse.faults.set({"next": ["lost"]})
        with pytest.raises(NoAnswer, match="the connection broke"):
            toa.call(PICK, GOODS)

        assert toa.call(STATUS, {"order": ORDER}).status == "picked"
        assert toa.call(PICK, GOODS).status == "picked"
        assert warehouse.ledger.whole()["shelves"] == {"tea": 3}
        with pytest.raises(NotTaken, match="HTTP 409, it asks otherwise now"):
            toa.call(PICK, {**GOODS, "quantity": 3})


def test_one_connection_serves_all_questions_and_warming_replaces_one_that_is_gone(db):
    with outside() as warehouse:
        for _ in range(3):
            toa.call("fulfilment.warehouse.warm", {"n": 1, "i": 0})
            toa.call(STATUS, {"order": ORDER})
        assert warehouse.opened == 1

        warehouse.cut_connections()
        assert toa.call("fulfilment.warehouse.warm", {"n": 1, "i": 0}) == {"warm": True}
        toa.call(STATUS, {"order": ORDER})
        assert warehouse.opened == 2


def test_a_forked_process_opens_a_connection_of_its_own(db):
    with outside() as warehouse:
        toa.call(STATUS, {"order": ORDER})
        with warnings.catch_warnings():
            # Newer Pythons warn of threads; here they are the warehouse's.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            try:
                reply = toa.call(STATUS, {"order": ORDER})
                os._exit(0 if reply.status == "unknown" else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

        assert warehouse.opened == 2
        toa.call(STATUS, {"order": ORDER})
        assert warehouse.opened == 2


def test_without_an_address_nothing_is_asked_and_it_is_said(db):
    with configured({}, {}):
        replies = [toa.call(STATUS, {"order": ORDER}), toa.call(PICK, GOODS), toa.call(INVENTORY, {})]
        assert toa.call("fulfilment.warehouse.warm", {"n": 1, "i": 0}) == {"warm": False}

    assert [reply.code for reply in replies] == ["NOT_CONFIGURED"] * 3


def test_a_wrong_token_is_no_matter_of_trying_again(db):
    with outside(token="another") as warehouse:
        with pytest.raises(NotTaken, match="HTTP 401, the token does not count there"):
            toa.call(STATUS, {"order": ORDER})
        assert not issubclass(NotTaken, toa.Transient)
        assert warehouse.faults.whole()["asked"] == {}


def test_a_warehouse_that_is_not_there_is_named_as_such(db):
    gone = Warehouse(token=TOKEN)
    gone.server_close()
    nobody = configured({"address": gone.address, "token": TOKEN, **PATIENT}, {})
    with nobody, pytest.raises(NoAnswer, match=r"GET /orders/\S+/status: no connection: .*refused"):
        toa.call(STATUS, {"order": ORDER})


def test_a_token_with_the_end_of_its_line_is_refused_and_not_repeated():
    with configured({"address": "http://127.0.0.1:1", "token": f"{TOKEN}\n"}, {}):
        with pytest.raises(InvalidConfiguration, match="what it holds does not fit") as unfit:
            toa.call("fulfilment.warehouse.warm", {"n": 1, "i": 0})
        with pytest.raises(NotTaken, match="cannot be sent") as refused:
            Client(replace(TERMS, token=f"{TOKEN}\n"))

    assert TOKEN not in f"{unfit.value!r} {refused.value!r}"


def test_the_token_is_in_no_text_about_client_and_terms():
    client = Client(TERMS)
    client.close()

    assert TOKEN not in f"{TERMS!r} {client!r} {client._http!r} {client._http.headers!r}"
