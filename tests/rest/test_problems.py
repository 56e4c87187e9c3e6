"""Every failure under the API is problem details, whatever was sent."""

from __future__ import annotations

import json
import logging
import time
import urllib.parse
from io import BytesIO

import pytest
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from django.test import override_settings
from django.urls import resolve

from store.orders.models import Order
from tests.rest.calling import ORDERS, Answer, order, placed
from toa.rest.encoding import address_below
from toa.rest.problems import Malformed
from toa.rest.reading import StrictJSONParser, decode
from toa.rest.settings import DEFAULTS

STUMBLE = "/api/components/desks/stumble/"
DOUBLE = "/api/components/desks/double/"


def test_an_unfit_input_is_told_by_json_pointers(anna):
    refused = anna.post(ORDERS, {"reference": "", "product": "tea", "quantity": 0, "total": 10.5}).problem()

    assert (refused["status"], refused["kind"]) == (400, "input")
    assert {one["pointer"] for one in refused["errors"]} == {"/reference", "/quantity", "/total"}


@pytest.mark.parametrize(
    ("query", "position"),
    [
        ("criteria=total>=ten", 7),
        ("criteria=status==pending;colour==red", 16),
        ("criteria=(status==pending", 16),
        ("criteria=%00", 0),
        ("criteria=", 0),
        ("sort=", None),
        ("projection=", None),
        ("limit=", None),
        ("after=", None),
        ("sort=colour", None),
        ("projection=colour", None),
        ("limit=0", None),
        ("limit=1001", None),
        ("limit=ten", None),
        ("limit=1&limit=2", None),
        ("after=nonsense", None),
        ("offset=3", None),
        ("deleted=true", None),
        ("criteria=" + "(" * 40, 32),
        ("criteria=" + ",".join(["quantity==1"] * 300), 2400),
    ],
)
def test_an_unfit_query_is_told_with_its_position(anna, query, position):
    refused = anna.get(f"{ORDERS}?{urllib.parse.quote(query, safe='=&%')}").problem()

    assert (refused["status"], refused["kind"]) == (400, "query")
    assert refused.get("position") == position


HOSTILE = {
    "nothing at all": b"{",
    "not json": b"<order/>",
    "not utf-8": b'{"n": "\xff"}',
    "a byte order mark": b'\xef\xbb\xbf{"n": 1}',
    "NaN": b'{"n": NaN}',
    "infinity": b'{"n": -Infinity}',
    "out of range": b'{"n": 1e400}',
    "a name twice": b'{"n": 1, "n": 2}',
    "a million brackets": b"[" * 1_000_000,
    "deep objects": b'{"n":' * 100_000 + b"1" + b"}" * 100_000,
    "ten thousand digits": b'{"n": ' + b"9" * 10_000 + b"}",
    "beyond 64 bit": b'{"n": 9223372036854775808}',
    "a lone surrogate": b'{"n": "\\ud800"}',
    "a lone surrogate as a name": b'{"\\udfff": 1}',
    "a lone surrogate as a name, twice": b'{"\\udfff": 1, "\\udfff": 1}',
    "NUL": b'{"n": "\\u0000"}',
    "null": b"null",
    "a list": b"[]",
    "a text": b'"n"',
    "spaces": b"   ",
    "two values": b"{} {}",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_hostile_json_is_refused(nobody, body):
    assert nobody.post(DOUBLE, body).problem()["status"] == 400


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_hostile_json_does_not_reach_an_owners_object(anna, body):
    assert anna.post(ORDERS, body).problem()["status"] == 400
    assert not Order.objects.exists()


def test_a_name_that_stands_twice_among_many_is_found_at_once():
    names = [f'"n{number}":1' for number in range(60_000)]
    began = time.process_time()

    with pytest.raises(Malformed, match="'n59999' twice"):
        decode(f"{{{','.join([*names, names[-1]])}}}".encode())

    # Held against one another, the names take minutes.
    assert time.process_time() - began < 10


def test_a_body_without_its_length_is_refused_rather_than_passed_over(toa_clock):
    headers = [(b"content-type", b"application/json"), (b"transfer-encoding", b"chunked")]
    scope = {"type": "http", "method": "POST", "path": DOUBLE, "query_string": b"", "headers": headers}

    answer = Answer(resolve(DOUBLE).func(ASGIRequest(scope, BytesIO(b'{"n": 1}'))))

    assert (answer.problem()["status"], answer.json["kind"]) == (400, "malformed")
    assert "Content-Length" in answer.json["detail"]


def test_a_body_that_is_too_long_is_not_read_to_its_end(nobody):
    class Endless:
        taken = 0

        def read(self, size: int) -> bytes:
            self.taken += size
            return b" " * size

    stream = Endless()
    with pytest.raises(Malformed) as refused:
        StrictJSONParser().parse(stream)
    assert (refused.value.status, stream.taken) == (413, DEFAULTS["MAX_BODY"] + 1)
    assert nobody.post(DOUBLE, b" " * 2_000_000).problem()["status"] == 413


def test_the_longest_body_is_a_setting(nobody):
    from django.conf import settings

    with override_settings(TOA={**settings.TOA, "REST": {"MAX_BODY": 8}}):
        assert nobody.post(DOUBLE, b'{"n": 1}').json == 2
        assert nobody.post(DOUBLE, b'{"n": 12}').problem()["status"] == 413


def test_a_setting_that_nobody_knows_stops_the_start():
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured

    from toa.rest.urls import operations

    with override_settings(TOA={**settings.TOA, "REST": {"OWNERS": "pk"}}), pytest.raises(ImproperlyConfigured):
        list(operations())


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/xml", "application/x-www-form-urlencoded", "json", "/", ""]
)
def test_a_body_of_another_kind_is_refused(nobody, kind):
    assert nobody.call("POST", DOUBLE, {"n": 1}, content_type=kind).problem()["status"] == 415


def test_a_charset_beside_the_media_type_is_no_matter(nobody):
    assert nobody.call("POST", DOUBLE, {"n": 1}, content_type="Application/JSON; charset=utf-8").json == 2


@pytest.mark.parametrize("accepted", ["text/html", "application/xml;q=1", "nonsense", ""])
def test_whoever_accepts_no_json_is_told_so_in_json(nobody, accepted):
    assert nobody.post(DOUBLE, {"n": 1}, accept=accepted).problem()["status"] == 406


@pytest.mark.parametrize("accepted", ["*/*", "text/html, application/json;q=0.1", "application/*", "APPLICATION/JSON"])
def test_json_is_given_to_whoever_accepts_it(nobody, accepted):
    assert nobody.post(DOUBLE, {"n": 1}, accept=accepted).json == 2


@pytest.mark.parametrize("id", ["1", "x" * 500, "%00", "%F0%9F%92%A9", "..", "' or 1=1 --", "0" * 31])
def test_what_cannot_be_an_id_is_found_nowhere(anna, id):
    assert anna.get(f"{ORDERS}{id}/").problem()["status"] == 404


def test_a_path_without_its_slash_is_found_nowhere_and_nothing_is_called(anna):
    assert anna.post(ORDERS.rstrip("/"), order("A-1")).problem()["status"] == 404
    assert not Order.objects.exists()


def test_a_declared_error_of_an_effect_is_a_refusal(anna):
    refused = anna.post(STUMBLE, {"over": "error"}).problem()

    assert (refused["status"], refused["code"], refused["details"]) == (422, "DECLARED", {"depth": 3})


@pytest.mark.parametrize("over", ["exception", "undeclared", "unfit", "no json"])
def test_a_fault_is_told_by_a_name_that_stands_in_the_log_and_nothing_else(anna, caplog, over):
    with caplog.at_level(logging.ERROR, logger="toa.rest"):
        fault = anna.post(STUMBLE, {"over": over}).problem()

    assert fault["status"] == 500
    assert fault.keys() == {"type", "title", "status", "detail", "kind", "instance"}
    assert "hunter2" not in json.dumps(fault)
    (line,) = (record for record in caplog.records if record.name == "toa.rest")
    assert fault["instance"].removeprefix("urn:uuid:").replace("-", "") == line.problem
    assert line.exc_info is not None


def test_what_is_away_for_a_moment_is_asked_for_again(anna):
    away = anna.post(STUMBLE, {"over": "transient"})

    assert away.problem()["status"] == 503 and away.headers["Retry-After"] == "1"


def test_too_many_requests_are_told_when_to_come_back(anna, monkeypatch):
    from rest_framework.throttling import SimpleRateThrottle

    from toa.rest.views import OperationView

    class Once(SimpleRateThrottle):
        rate = "1/hour"

        def get_cache_key(self, request, view):
            return f"{view.throttle_scope}-{request.user}"

    monkeypatch.setattr(OperationView, "throttle_classes", (Once,))
    path = placed(anna, "A-1")
    throttled = anna.post(ORDERS, order("A-2"))

    assert throttled.problem()["kind"] == "throttled"
    assert 0 < int(throttled.headers["Retry-After"]) <= 3600
    assert anna.get(path).status == 200


def test_a_session_without_its_csrf_token_is_refused(anna):
    from django.contrib.auth import get_user_model
    from django.test import Client

    from tests.rest.calling import Api

    client = Client(enforce_csrf_checks=True)
    client.force_login(get_user_model().objects.get(username="anna"))

    assert Api(client).post(ORDERS, order("A-1")).problem()["status"] == 403
    assert not Order.objects.exists()


def test_a_wrong_password_is_401(nobody):
    refused = nobody.get(ORDERS, authorization="Basic YW5uYTp3cm9uZw==")

    assert refused.problem()["status"] == 401
    assert refused.headers["WWW-Authenticate"].startswith("Basic")


@pytest.mark.parametrize("identity", ["plain", "a b", "Größe", "注文", "two\r\nlines", "a/b?c#d"])
def test_the_address_of_a_new_object_can_stand_in_a_header(identity):
    address = address_below("/api/orders/", identity)

    assert HttpResponse(headers={"Location": address})["Location"] == address
    assert urllib.parse.unquote(address) == f"/api/orders/{identity}/"
    assert address.count("/") == 4
