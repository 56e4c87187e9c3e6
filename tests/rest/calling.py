"""Calls over HTTP, for the tests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.test import Client

ORDERS = "/api/store/orders/"
ABSENT = object()


@dataclass(frozen=True)
class Api:
    """A client that sends and reads JSON."""

    client: Client

    def get(self, path: str, **headers: str) -> Answer:
        return self.call("GET", path, **headers)

    def post(self, path: str, body: Any = ABSENT, **headers: str) -> Answer:
        return self.call("POST", path, body, **headers)

    def call(self, method: str, path: str, body: Any = ABSENT, **headers: str) -> Answer:
        """`body` is sent as JSON, bytes as they are. Headers are named as in `if_match`."""
        sent = b"" if body is ABSENT else body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        kind = named.pop("content-type", "application/json")
        return Answer(self.client.generic(method, path, sent, content_type=kind, headers=named))


@dataclass(frozen=True)
class Answer:
    """A response."""

    response: Any

    @property
    def status(self) -> int:
        return int(self.response.status_code)

    @property
    def json(self) -> Any:
        return json.loads(self.response.content)

    @property
    def headers(self) -> Any:
        return self.response.headers

    def problem(self) -> Any:
        """The body, which is problem details that agree with the response."""
        assert self.headers["Content-Type"] == "application/problem+json"
        document = self.json
        assert {"type", "title", "status", "detail", "kind"} <= document.keys()
        assert document["status"] == self.status
        return document


def order(reference: str, **change: Any) -> dict[str, Any]:
    """What a customer sends to place an order."""
    return {"reference": reference, "product": "tea", "quantity": 1, "total": "10.00", **change}


def placed(api: Api, reference: str, **change: Any) -> str:
    """Place an order; returns its path."""
    answer = api.post(ORDERS, order(reference, **change))
    assert answer.status == 201, answer.json
    location: str = answer.headers["Location"]
    return location
