"""`Watch`: a live page of a running solve, with a button to stop it."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Generator
from typing import Any

from condal.certificates.history import Row
from condal.errors import CondalError
from condal.io.results.record import Saved
from condal.report.live.rows import Rows
from condal.report.live.server import HOST, Server
from condal.report.pages import page, render, require
from condal.report.words import verdict
from condal.result import Result

EVENT_SECONDS = 1.0  # between two events
HEARTBEAT_SECONDS = 10.0  # without news, after which an event is sent all the same
CLOSE_SECONDS = 5.0  # to wait until all pages have received the end


class Watch:
    """Serve a page of a running solve on 127.0.0.1.

    The button of the page ends the solve with the status INTERRUPTED. `finish` replaces the page
    with the report of the result, which stays after the process has ended.

    Parameters
    ----------
    port : int
        The port to listen on; 0 for any free port.
    title : str
        The title of the page.
    on_stop : callable, optional
        Called in another thread when the button is pressed. In any case the solve stops after the
        current iteration.

    Raises
    ------
    CondalError
        If the port cannot be used.
    MissingExtra
        If Jinja2 or matplotlib is not installed.

    Examples
    --------
    .. code-block:: python

        with Watch() as watch:
            print(watch.address)
            watch.finish(condal.solve(problem, callback=watch))
    """

    def __init__(
        self,
        port: int = 0,
        *,
        title: str = "condal solve",
        on_stop: Callable[[], Any] | None = None,
    ) -> None:
        require()
        self.title, self._on_stop = title, on_stop
        self._rows, self._began = Rows(), time.perf_counter()
        self._asked, self._settled = threading.Event(), threading.Event()
        self._ended, self._turn = threading.Condition(), threading.Lock()
        self._last: dict[str, Any] | None = None  # the record of the end event
        self._open = 0  # number of listening pages
        self._entered = 0  # a solve enters its callback, too
        try:
            self._server = Server(
                port,
                secrets.token_urlsafe(24),
                page=self._page,
                events=self._events,
                stop=self._stop,
            )
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CondalError(
                f"cannot listen on port {port} of {HOST}: {reason}; give another port, or none for "
                "a free one"
            ) from error

    @property
    def address(self) -> str:
        """The URL of the page; whoever knows it can stop the solve."""
        return self._server.address

    def __call__(self, row: Row) -> bool:
        """Record a row; return whether the page has asked to stop."""
        self._rows.append(row)
        return self._asked.is_set()

    def __enter__(self) -> Watch:
        self._entered += 1
        if self._entered == 1:
            threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._entered -= 1
        if self._entered > 0:
            return
        if self._last is None:
            self._end({"verdict": None, "html": None})
        with self._ended:
            self._ended.wait_for(lambda: self._open == 0, timeout=CLOSE_SECONDS)
        self._server.shutdown()
        self._server.server_close()

    def settle(self) -> None:
        """Disable the button: the solve has ended and its answer is being written."""
        with self._turn:  # an earlier press of the button has been handled
            self._settled.set()

    def finish(self, result: Result | Saved) -> None:
        """Replace the page with the report of a result, which is drawn only if a page is open."""
        with self._ended:
            watched = self._open > 0
        plain = result.result if isinstance(result, Saved) else result
        html = page(result, title=self.title) if watched else None
        self._end({"verdict": verdict(plain).title, "html": html})

    def _end(self, record: dict[str, Any]) -> None:
        self.settle()
        with self._ended:
            self._last = record
            self._ended.notify_all()

    def _stop(self) -> None:
        """Stop the solve once: a second Ctrl-C would abort."""
        with self._turn:
            if self._settled.is_set() or self._asked.is_set():
                return
            if self._on_stop is not None:
                self._on_stop()
            self._asked.set()

    def _page(self, nonce: str) -> str:
        return render("live.html", title=self.title, nonce=nonce)

    def _events(self) -> Generator[tuple[str, Any]]:
        """Yield the rows when they change, at most once per EVENT_SECONDS, and the end."""
        with self._ended:
            self._open += 1
        try:
            sent: Row | None = None
            sent_at = -HEARTBEAT_SECONDS
            while self._last is None:
                now, last = time.perf_counter(), self._rows.last
                if last is not sent or now - sent_at >= HEARTBEAT_SECONDS:
                    sent, sent_at = last, now
                    yield "rows", self._record()
                with self._ended:
                    self._ended.wait_for(lambda: self._last is not None, timeout=EVENT_SECONDS)
            yield "rows", self._record()
            yield "end", self._last
        finally:
            with self._ended:
                self._open -= 1
                self._ended.notify_all()

    def _record(self) -> dict[str, Any]:
        return {
            "elapsed": round(time.perf_counter() - self._began, 1),
            "asked": self._asked.is_set(),
            "settled": self._settled.is_set(),
            "rows": self._rows.record(),
        }
