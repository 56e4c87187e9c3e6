"""One connection of the outside: reads requests, lets them meet their faults, answers."""

from __future__ import annotations

import hmac
import json
import socket
import struct
import time
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from shop.warehouse.distorting import ELSEWHERE, Answer, distorted, plain
from shop.warehouse.faults import FAMILIES, Draw, Fault, UnfitSetting
from shop.warehouse.page import page
from shop.warehouse.routes import Refused, Request, answer, route_of

if TYPE_CHECKING:
    from shop.warehouse.server import Warehouse

LARGEST = 64_000_000
"""Bytes of a request."""
_DRIPS = {
    Fault.DRIP: (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n", b" "),
    Fault.DRIP_HEAD: (b"HTTP/1.1 200 OK\r\nServer: ", b"-"),
}
"""How an answer that drips begins, and how it goes on."""
_OPEN = ("/", "/ledger", "/faults", "/shelves", ELSEWHERE)
"""For people, tests and proofs: no credentials, no faults."""


class Handler(BaseHTTPRequestHandler):
    """What `http.server` makes for each connection."""

    protocol_version = "HTTP/1.1"
    server_version = "Warehouse"
    sys_version = ""
    # A small answer is one packet, at once.
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = 120
    server: Warehouse

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def _handle(self) -> None:
        try:
            request = self._request()
            if request.path in _OPEN:
                self._send(self._open(request))
            elif not self._is_known():
                self._send(plain({"error": "who are you?"}, 401, WWW_Authenticate="Bearer"))
            else:
                self._serve(request)
        except Refused as refused:
            self._send(plain({"error": str(refused)}, refused.status))

    def _serve(self, request: Request) -> None:
        route, order = route_of(request)
        draw = self.server.faults.draw(route.kind, acts=route.acts)
        self.server.wait(draw.delay_s)
        if draw.fault in FAMILIES["fail"]:
            self._fail(draw.fault)
        elif draw.fault in FAMILIES["hang"]:
            if draw.acts_first:
                answer(self.server.ledger, route, request, order)
            self._hang(draw)
        else:
            document = answer(self.server.ledger, route, request, order)
            if draw.fault is None:
                self._send(plain(document))
            elif draw.fault is Fault.LOST:
                self._reset()
            else:
                self._send(distorted(draw.fault, document, route.kind))

    def _open(self, request: Request) -> Answer:
        server = self.server
        match request.method, request.path:
            case "GET", "/":
                body = page(server.ledger.whole(), server.faults.whole()).encode()
                return Answer(body=body, headers={"Content-Type": "text/html; charset=utf-8"})
            case "GET", "/ledger":
                beside = {"faults": server.faults.whole(), "strayed": server.strayed, "opened": server.opened}
                return plain({**server.ledger.whole(), **beside})
            case "GET", "/faults":
                return plain(server.faults.whole())
            case "POST", "/faults":
                try:
                    server.faults.set(_mapping(request.body))
                except UnfitSetting as error:
                    raise Refused(400, str(error)) from error
                return plain(server.faults.whole())
            case "POST", "/shelves":
                shelves = _mapping(request.body)
                if not all(figure is None or (type(figure) is int and figure >= 0) for figure in shelves.values()):
                    raise Refused(400, "each product wants a figure from 0 on, or null to take its shelf away")
                server.ledger.set_shelves(shelves)
                return plain({"shelves": len(shelves)})
            case _, path if path == ELSEWHERE:
                server.strayed += 1
                return plain({})
        raise Refused(405, f"{request.path} does not take {request.method}")

    def _fail(self, fault: Fault) -> None:
        wait = str(self.server.faults.settings.retry_after_s)
        match fault:
            case Fault.INTERNAL:
                self._send(plain({"error": "something broke"}, 500))
            case Fault.UNAVAILABLE:
                self._send(plain({"error": "closed for a moment"}, 503, Retry_After=wait))
            case Fault.BUSY:
                self._send(plain({"error": "too many requests"}, 429, Retry_After=wait))
            case _:
                self._reset()

    def _hang(self, draw: Draw) -> None:
        """Say nothing, or next to nothing, for as long as the settings have it; then close."""
        give_up = time.monotonic() + self.server.faults.settings.hang_s
        head, drop = _DRIPS.get(draw.fault, (b"", b""))
        self.wfile.write(head)
        while (left := give_up - time.monotonic()) > 0 and not self.server.wait(min(left, 0.05)):
            self.wfile.write(drop)
            self.wfile.flush()
        self.close_connection = True

    def _reset(self) -> None:
        """Close at once: the other side is told that the connection was reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def _send(self, sent: Answer) -> None:
        self.send_response(sent.status)
        for name, value in sent.headers.items():
            self.send_header(name, value)
        if sent.pieces is None:
            self.send_header("Content-Length", str(len(sent.body)))
            self.end_headers()
            self.wfile.write(sent.body[: sent.sent])
            self.close_connection = self.close_connection or sent.sent is not None
        else:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in sent.pieces:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _request(self) -> Request:
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > LARGEST or "Transfer-Encoding" in self.headers:
            self.close_connection = True
            raise Refused(413, f"a request should say its length, of at most {LARGEST} bytes")
        raw = self.rfile.read(int(length))
        try:
            body = json.loads(raw) if raw else None
        except ValueError as error:
            raise Refused(400, "the body should be JSON, in UTF-8") from error
        target = urlsplit(self.path)
        return Request(
            method=self.command,
            path=target.path,
            query=dict(parse_qsl(target.query)),
            body=body,
            key=self.headers.get("Idempotency-Key", ""),
        )

    def _is_known(self) -> bool:
        given = self.headers.get("Authorization", "")
        return hmac.compare_digest(given.encode(), f"Bearer {self.server.token}".encode())

    def log_message(self, format: str, *arguments: Any) -> None:
        self.server.log(format % arguments)


def _mapping(body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise Refused(400, "the body should be an object")
    return body
