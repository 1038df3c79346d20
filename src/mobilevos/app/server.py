"""A web server for the browser app, for this machine only."""

import os
import shutil
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from mobilevos.app.files import AppFiles
from mobilevos.errors import InputError

LOOPBACK = "127.0.0.1"

HEADERS = {
    # Only a page isolated from other origins gets the shared memory that threads of WebAssembly need.
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Vary": "Accept-Encoding",
}


class AppServer(ThreadingHTTPServer):
    """Serves the files of the app on loopback until it is shut down."""

    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # on Windows it would let two servers share a port

    def __init__(self, files: AppFiles, port: int) -> None:
        super().__init__((LOOPBACK, port), AppHandler)
        self.files = files

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # the browser went away: its right
            super().handle_error(request, client_address)


class AppHandler(BaseHTTPRequestHandler):
    """Answers GET and HEAD with files; http.server answers everything else with 501."""

    protocol_version = "HTTP/1.1"
    server: AppServer
    server_version = "mobilevos"
    sys_version = ""

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, with_body: bool) -> None:
        answer = self.server.files.find(self.path, self.headers.get("Accept-Encoding", ""))
        if answer is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        with answer.path.open("rb") as file:
            known = {tag.strip() for tag in self.headers.get("If-None-Match", "").split(",")}
            fresh = answer.etag in known
            self.send_response(HTTPStatus.NOT_MODIFIED if fresh else HTTPStatus.OK)
            self.send_header("ETag", answer.etag)
            self.send_header("Cache-Control", answer.cache_control)
            if not fresh:
                self.send_header("Content-Type", answer.content_type)
                self.send_header("Content-Length", str(os.fstat(file.fileno()).st_size))
                if answer.encoding:
                    self.send_header("Content-Encoding", answer.encoding)
            self.end_headers()
            if with_body and not fresh:
                shutil.copyfileobj(file, self.wfile)

    def end_headers(self) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal shows where the app is, not each file."""


def open_server(files: AppFiles, port: int) -> AppServer:
    """Bind to `port`, or to a free one where it is 0 or taken; `url` of the result says which."""
    if not 0 <= port <= 65535:
        raise InputError(f"expected a port between 0 and 65535, got {port}")
    try:
        return AppServer(files, port)
    except OSError:  # taken, or reserved for the system
        return AppServer(files, 0)
