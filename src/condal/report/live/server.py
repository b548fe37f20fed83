"""The server of a watched solve: a page, its events, and one button.

It listens only on 127.0.0.1. A secret token in the address grants the right to watch and stop;
other users of the machine and other pages in the browser do not know it. Requests with a foreign
Host header are refused, which prevents DNS rebinding, and a stop needs a header that no form can
send.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
import sys
import threading
from collections.abc import Callable, Generator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HOST = "127.0.0.1"
HEADER = "X-Condal"  # a foreign page cannot send it without a preflight request, which fails
NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
OWN = "script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'"


class Server(ThreadingHTTPServer):
    """Serve `page` at /TOKEN/, `events` at /TOKEN/events, and call `stop` at /TOKEN/stop.

    `page` receives the nonce for its scripts.
    """

    daemon_threads = True
    block_on_close = False
    max_clients = 32  # at a time; others are disconnected, to save memory for the solve

    def __init__(
        self,
        port: int,
        token: str,
        *,
        page: Callable[[str], str],
        events: Callable[[], Generator[tuple[str, Any]]],
        stop: Callable[[], None],
    ) -> None:
        self.token, self.page, self.events, self.stop = token, page, events, stop
        self._free = threading.BoundedSemaphore(self.max_clients)
        super().__init__((HOST, port), _Handler)

    @property
    def address(self) -> str:
        """The URL of the page."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    @property
    def hosts(self) -> tuple[str, str]:
        """The Host headers that it accepts."""
        return f"{HOST}:{self.server_port}", f"localhost:{self.server_port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Handle a request in its own thread, if there is one left."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # the system has no thread left
            self._free.release()
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore browsers that disconnect, and report other errors."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "condal", ""
    timeout = 30.0  # seconds per request

    def do_GET(self) -> None:
        """Serve the page, or its events until the solve ends."""
        if not self._welcome():
            return
        if self._place() == "":
            nonce = secrets.token_urlsafe(16)
            policy = f"{NOTHING}; {OWN.format(nonce=nonce)}"
            text = self.server.page(nonce)
            self._answer(HTTPStatus.OK, text, "text/html; charset=utf-8", policy)
        elif self._place() == "events":
            self._events()
        else:
            self._answer(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Stop the solve: the button was pressed."""
        self.close_connection = True  # the body of the request is not read
        if not self._welcome():
            return
        origin = self.headers.get("Origin")
        ours = origin is None or origin in [f"http://{host}" for host in self.server.hosts]
        if self._place() != "stop":
            self._answer(HTTPStatus.NOT_FOUND)
        elif not ours or self.headers.get(HEADER) != "stop":
            self._answer(HTTPStatus.FORBIDDEN)
        else:
            self._answer(HTTPStatus.NO_CONTENT)
            self.server.stop()

    def _welcome(self) -> bool:
        """Return whether the Host header and the token are right."""
        if self.headers.get("Host") not in self.server.hosts:
            self._answer(HTTPStatus.FORBIDDEN)
            return False
        given = self.path.partition("?")[0].split("/", 2)
        token = given[1] if len(given) == 3 else ""
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            self._answer(HTTPStatus.NOT_FOUND)
            return False
        return True

    def _place(self) -> str:
        return self.path.partition("?")[0].split("/", 2)[2]

    def _answer(
        self, status: HTTPStatus, text: str = "", kind: str = "text/plain", policy: str = NOTHING
    ) -> None:
        body = text.encode()
        self.send_response(status)
        self._headers(kind, policy)
        self.send_header("Content-Length", f"{len(body)}")
        self.end_headers()
        self.wfile.write(body)

    def _headers(self, kind: str, policy: str = NOTHING) -> None:
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", policy)

    def _events(self) -> None:
        """Send server-sent events, which also reach a page in the background."""
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        self._headers("text/event-stream")
        self.end_headers()
        events = self.server.events()
        with contextlib.suppress(OSError), contextlib.closing(events):
            for name, record in events:
                data = json.dumps(record, allow_nan=False, separators=(",", ":"))
                self.wfile.write(f"event: {name}\ndata: {data}\n\n".encode())

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a bad request with its status alone, without echoing the request."""
        self.close_connection = True
        self._answer(HTTPStatus(code))

    def log_message(self, *_: Any) -> None:
        """Print nothing: the terminal belongs to the solve."""
