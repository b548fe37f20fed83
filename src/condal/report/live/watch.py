"""A solve that can be watched: what it has come to, whether it was asked to stop, how it ended."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Generator
from typing import Any

from condal.errors import CondalError
from condal.io.results.record import Saved
from condal.report.live.rows import Rows
from condal.report.live.server import HOST, Server
from condal.report.pages import page, render, require
from condal.report.words import verdict
from condal.result import Result, Row

SECONDS = 1.0  # between two events
QUIET = 10.0  # seconds without news after which a page is told that all is well
PATIENCE = 5.0  # seconds in which all pages are to have heard of the end


class Watch:
    """Serves a page of a solve on 127.0.0.1 while it runs.

        with Watch() as watch:
            print(watch.address)
            watch.finish(condal.solve(problem, callback=watch))

    The button of the page ends the solve with the status INTERRUPTED. `finish` replaces the page by
    the report of the result, which stays when the process is gone.

    Parameters
    ----------
    port : where to listen; 0 for any that is free.
    title : what is solved.
    on_stop : called, in another thread, when the button is pressed; without it, and also if it does
        nothing, the solve ends after the iteration.
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
        self._last: dict[str, Any] | None = None  # the record of the end
        self._open = 0  # pages that are listening
        self._entered = 0  # a solve enters its callback once more
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
                f"cannot listen on port {port} of {HOST}: {reason}; name another, or none for one "
                "that is free"
            ) from error

    @property
    def address(self) -> str:
        """What to open in a browser; whoever knows it may stop the solve."""
        return self._server.address

    def __call__(self, row: Row) -> bool:
        """Take note of a row; true once the page has asked to stop."""
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
            self._ended.wait_for(lambda: self._open == 0, timeout=PATIENCE)
        self._server.shutdown()
        self._server.server_close()

    def settle(self) -> None:
        """From now on there is nothing to stop: the answer is there, and is told and written."""
        with self._turn:  # a button that was pressed before has been heard
            self._settled.set()

    def finish(self, result: Result | Saved) -> None:
        """The result, whose report takes the place of the page; drawn only if a page is open."""
        with self._ended:
            watched = self._open > 0
        known = result.result if isinstance(result, Saved) else result
        html = page(result, title=self.title) if watched else None
        self._end({"verdict": verdict(known).title, "html": html})

    def _end(self, record: dict[str, Any]) -> None:
        self.settle()
        with self._ended:
            self._last = record
            self._ended.notify_all()

    def _stop(self) -> None:
        """Once: a second Ctrl-C would abort."""
        with self._turn:
            if self._settled.is_set() or self._asked.is_set():
                return
            if self._on_stop is not None:
                self._on_stop()
            self._asked.set()

    def _page(self, nonce: str) -> str:
        return render("live.html", title=self.title, nonce=nonce)

    def _events(self) -> Generator[tuple[str, Any]]:
        """What has changed, at most once in SECONDS, and the end."""
        with self._ended:
            self._open += 1
        try:
            sent: Row | None = None
            told = -QUIET
            while self._last is None:
                now, last = time.perf_counter(), self._rows.last
                if last is not sent or now - told >= QUIET:
                    sent, told = last, now
                    yield "rows", self._record()
                with self._ended:
                    self._ended.wait_for(lambda: self._last is not None, timeout=SECONDS)
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
