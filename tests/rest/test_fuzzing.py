"""Requests made up from our own OpenAPI document: no fault, and no answer that the document does not hold."""

from __future__ import annotations

from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.transport import Response
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.rest.conftest import api_of
from toa.rest.pages import document

pytestmark = pytest.mark.slow

schema = schemathesis.openapi.from_dict(document())
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


# Nothing is alive in a test, and health says so by a 503.
@schema.exclude(path_regex="/health/").parametrize()
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_request_leads_to_a_fault_or_to_what_is_not_written(toa_clock: Any, case: Any) -> None:
    root = api_of("root", is_superuser=True).client
    sent = requests.Request(**case.as_transport_kwargs(base_url="http://testserver")).prepare()
    headers = {name: _text(value) for name, value in sent.headers.items()}
    kind = headers.pop("Content-Type", "application/json")
    path = str(sent.url).removeprefix("http://testserver")
    body = sent.body.encode() if isinstance(sent.body, str) else sent.body or b""

    answered = root.generic(str(sent.method), path, body, content_type=kind, headers=headers)

    response = Response(
        status_code=answered.status_code,
        headers={name: [value] for name, value in answered.headers.items()},
        content=answered.content,
        request=sent,
        elapsed=0.0,
        verify=False,
    )
    case.validate_response(response, checks=CHECKS)


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value
