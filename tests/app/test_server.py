"""The server as a browser meets it."""

import gzip
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest

from mobilevos.app import AppFiles, open_server
from mobilevos.app.server import AppServer
from mobilevos.errors import InputError
from tests.app.folder import PAGE, SCRIPT, SMALLER, WASM, built_folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    with open_server(AppFiles(built_folder(tmp_path_factory.mktemp("install"))), 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def connection(server: AppServer) -> Iterator[HTTPConnection]:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    yield connection
    connection.close()


def ask(connection: HTTPConnection, target: str, method: str = "GET", **headers: str) -> tuple[HTTPResponse, bytes]:
    connection.request(method, target, headers={name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    return response, response.read()


def test_files_come_whole_one_after_the_other_on_one_connection(connection: HTTPConnection) -> None:
    for target, content in (("/", PAGE), ("/assets/engine-3c4d.wasm", WASM), ("/assets/main-1a2b.js", SCRIPT)):
        response, body = ask(connection, target)
        assert (response.status, body) == (200, content)


@pytest.mark.parametrize("target", ["/", "/assets/engine-3c4d.wasm", "/nothing"])
def test_every_answer_isolates_the_page(connection: HTTPConnection, target: str) -> None:
    response, _ = ask(connection, target)
    assert response.getheader("Cross-Origin-Opener-Policy") == "same-origin"
    assert response.getheader("Cross-Origin-Embedder-Policy") == "require-corp"
    assert response.getheader("X-Content-Type-Options") == "nosniff"


def test_compressed_as_accepted(connection: HTTPConnection) -> None:
    target = "/assets/main-1a2b.js"
    response, body = ask(connection, target, Accept_Encoding="gzip, br")
    assert (response.getheader("Content-Encoding"), body) == ("br", SMALLER)
    response, body = ask(connection, target, Accept_Encoding="gzip")
    assert (response.getheader("Content-Encoding"), gzip.decompress(body)) == ("gzip", SCRIPT)
    response, body = ask(connection, target)
    assert (response.getheader("Content-Encoding"), body) == (None, SCRIPT)
    assert response.getheader("Vary") == "Accept-Encoding"


def test_what_the_browser_has_is_not_sent_again(connection: HTTPConnection) -> None:
    first, _ = ask(connection, "/")
    tag = first.getheader("ETag") or ""
    again, body = ask(connection, "/", If_None_Match=f'"other", {tag}')
    assert (again.status, body) == (304, b"")
    other, body = ask(connection, "/", If_None_Match='"other"')
    assert (other.status, body) == (200, PAGE)


def test_head_has_the_length_and_no_body(connection: HTTPConnection) -> None:
    response, body = ask(connection, "/", "HEAD")
    assert (response.status, response.getheader("Content-Length"), body) == (200, str(len(PAGE)), b"")


def test_refusals(connection: HTTPConnection) -> None:
    assert ask(connection, "/../secret.txt")[0].status == 404
    assert ask(connection, "/assets/")[0].status == 404
    assert ask(connection, "/", "DELETE")[0].status == 501


def test_nobody_else_can_reach_it(server: AppServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_a_taken_port_gives_another(tmp_path: Path) -> None:
    files = AppFiles(built_folder(tmp_path))
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        with open_server(files, taken) as server:
            assert server.server_port not in (0, taken)
            assert server.url == f"http://127.0.0.1:{server.server_port}/"


def test_no_such_port(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="between 0 and 65535, got 70000"):
        open_server(AppFiles(built_folder(tmp_path)), 70000)
