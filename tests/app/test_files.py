"""Which file answers a request."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mobilevos.app.files import Answer, AppFiles, built_app
from mobilevos.errors import InputError
from tests.app.folder import built_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_folder(tmp_path_factory.mktemp("install"))


def found(folder: Path, target: str, accept_encoding: str = "") -> Answer:
    answer = AppFiles(folder).find(target, accept_encoding)
    assert answer is not None
    return answer


@pytest.mark.parametrize(
    ("target", "content_type"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/?sample", "text/html; charset=utf-8"),
        ("/index.html#top", "text/html; charset=utf-8"),
        ("/manifest.webmanifest", "application/manifest+json"),
        ("/assets/main-1a2b.js", "text/javascript; charset=utf-8"),
        ("/assets/engine-3c4d.wasm", "application/wasm"),
        ("/model/weights.bin", "application/octet-stream"),
        ("/model/head.tflite", "application/octet-stream"),
        ("/model/%77eights.bin", "application/octet-stream"),
    ],
)
def test_types(folder: Path, target: str, content_type: str) -> None:
    assert found(folder, target).content_type == content_type


@pytest.mark.parametrize(
    "target",
    [
        "/nothing.js",
        "/assets",
        "/assets/",
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "//etc/passwd",
        "/%2fetc/passwd",
        "/link.txt",
        "/index.html%00.js",
        "/" + "x" * 5000,
    ],
)
def test_what_is_not_of_the_app_is_refused(folder: Path, target: str) -> None:
    if not (folder / "link.txt").is_symlink():
        os.symlink(folder.parent / "secret.txt", folder / "link.txt")
    assert AppFiles(folder).find(target) is None


@given(st.text(alphabet="./%2eEfF\\asecrt:0", max_size=40))
def test_no_spelling_leads_out(folder: Path, text: str) -> None:
    answer = AppFiles(folder).find("/" + text)
    assert answer is None or answer.path.is_relative_to(folder.resolve())


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("gzip", "gzip"),
        ("GZIP;q=1.0, br;q=0", "gzip"),
        ("br;q=0.5", "br"),
        ("identity", None),
        ("", None),
    ],
)
def test_precompressed_where_it_is_accepted(folder: Path, accepted: str, encoding: str | None) -> None:
    answer = found(folder, "/assets/main-1a2b.js", accepted)
    assert answer.encoding == encoding
    assert answer.path.suffix == {"br": ".br", "gzip": ".gz", None: ".js"}[encoding]
    assert answer.content_type == "text/javascript; charset=utf-8"


def test_no_compressed_file_no_encoding(folder: Path) -> None:
    assert found(folder, "/", "br, gzip").encoding is None


def test_named_by_content_is_kept_forever_and_all_else_is_asked_for(folder: Path) -> None:
    for target in ("/", "/sw.js", "/model/weights.bin"):
        assert found(folder, target).cache_control == "no-cache"
    assert "immutable" in found(folder, "/assets/engine-3c4d.wasm").cache_control


def test_tags_follow_the_content(tmp_path: Path) -> None:
    folder = built_folder(tmp_path)
    tags = {found(folder, "/assets/main-1a2b.js", accepted).etag for accepted in ("", "br", "gzip")}
    assert len(tags) == 3
    before = found(folder, "/").etag
    (folder / "index.html").write_bytes(b"a new version")
    assert found(folder, "/").etag != before


def test_an_install_without_the_app_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not built into this install"):
        built_app(tmp_path)
