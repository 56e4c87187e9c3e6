"""HTTP with an outside system: every wait and every size is bounded, nothing is followed, nothing is believed."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpcore
import httpx

from shop.outside.problems import BadAnswer, NoAnswer, NotTaken
from shop.outside.replies import checked, document, refuse_unfit_headers
from shop.outside.transport import OutOfTime, Transport, until
from toa.manifests.schemas import Checker

CONNECTIONS = 10
"""To one system, of one process."""
IDLE_S = 120.0
"""How long a connection that nobody uses is kept: longer than a pulse that keeps it warm takes to come again."""

_TOKEN = re.compile(r"[!-~]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How to reach a system, and what to put up with."""

    address: str
    token: str = field(repr=False)
    connect_s: float
    read_s: float
    whole_s: float
    largest: int
    """Bytes of an answer."""


class Client:
    """A session with a system, for any number of threads. It outlives no fork: see `connection`."""

    def __init__(self, terms: Terms) -> None:
        """Raises NotTaken for a token that cannot be sent, such as one with the end of its line."""
        self._terms = terms
        if not _TOKEN.fullmatch(terms.token):
            # Below, the error would repeat it.
            raise NotTaken("the token holds spaces, line ends or other characters that cannot be sent")
        headers = {
            "Authorization": f"Bearer {terms.token}",
            "Accept": "application/json",
            # What is small on the line must not be large in memory.
            "Accept-Encoding": "identity",
            "User-Agent": "shop",
        }
        self._http = httpx.Client(
            base_url=terms.address,
            headers=headers,
            timeout=httpx.Timeout(terms.read_s, connect=terms.connect_s),
            transport=Transport(connections=CONNECTIONS, idle_s=IDLE_S),
            follow_redirects=False,
            # Neither a proxy nor a password file of the host's is meant for the token.
            trust_env=False,
        )

    def get(self, path: str, query: Mapping[str, Any] | None = None, *, reply: Checker) -> dict[str, Any]:
        """Ask; returns the document, which fits `reply`.

        Raises NoAnswer, BadAnswer or NotTaken, in words that name the cause.
        """
        return self._ask("GET", path, reply, params=query)

    def post(self, path: str, body: Mapping[str, Any], *, key: str, reply: Checker) -> dict[str, Any]:
        """Have something done, once for each key; returns the document. Raises as `get`.

        After NoAnswer and BadAnswer it may have been done: ask again, under the same key.
        """
        return self._ask("POST", path, reply, json=body, headers={"Idempotency-Key": key})

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def _ask(self, method: str, path: str, reply: Checker, **request: Any) -> dict[str, Any]:
        what = f"{method} {path}"
        with (
            _in_words(what, self._terms),
            until(time.monotonic() + self._terms.whole_s),
            self._http.stream(method, path, **request) as response,
        ):
            _refuse_status(what, response)
            refuse_unfit_headers(what, response.headers, self._terms.largest)
            return checked(what, document(what, b"".join(self._bounded(what, response))), reply)

    def _bounded(self, what: str, response: httpx.Response) -> Iterator[bytes]:
        size = 0
        for piece in response.iter_raw():
            size += len(piece)
            if size > self._terms.largest:
                raise BadAnswer(f"{what}: the answer is larger than {self._terms.largest} bytes")
            yield piece


_MEANING = {401: ", the token does not count there", 403: ", the token may not do this", 409: ", it asks otherwise now"}


@contextmanager
def _in_words(what: str, terms: Terms) -> Iterator[None]:
    try:
        yield
    except OutOfTime as error:
        raise NoAnswer(f"{what}: the answer was not over within {terms.whole_s:g} s") from error
    except httpcore.ConnectTimeout as error:
        raise NoAnswer(f"{what}: no connection within {terms.connect_s:g} s") from error
    except httpcore.ConnectError as error:
        raise NoAnswer(f"{what}: no connection: {error}") from error
    except httpcore.TimeoutException as error:
        raise NoAnswer(f"{what}: no answer within {terms.read_s:g} s") from error
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise NoAnswer(f"{what}: the connection broke: {error}") from error
    except (httpcore.UnsupportedProtocol, httpx.InvalidURL) as error:
        raise NotTaken(f"{what}: the address cannot be read: {error}") from error


def _refuse_status(what: str, response: httpx.Response) -> None:
    status = response.status_code
    if status == 200:
        return
    if 300 <= status < 400:
        raise BadAnswer(f"{what}: HTTP {status} sends us elsewhere; redirects are not followed")
    if status == 429 or status >= 500:
        wait = response.headers.get("Retry-After", "")
        after = f", come again after {wait} s" if wait.isascii() and wait.isdigit() and len(wait) < 8 else ""
        raise NoAnswer(f"{what}: HTTP {status}{after}")
    if status >= 400:
        raise NotTaken(f"{what}: HTTP {status}{_MEANING.get(status, '')}")
    raise BadAnswer(f"{what}: HTTP {status} is no answer to this")
