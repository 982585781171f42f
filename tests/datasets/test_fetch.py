"""Downloads, against a real server on loopback: whole, broken, resumed, damaged, refused."""

import hashlib
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from coterie import datasets
from coterie.datasets import fetch as fetching
from coterie.datasets.fetch import CHUNK, fetch
from coterie.datasets.registry import Entry, File, snow
from coterie.errors import CoterieError, DataError, MissingExtraError

pytest.importorskip("pooch")

ROWS = [
    (f"worker{l}", f"item{i}", str((i + l) % 2), str(i % 2)) for i in range(700) for l in (2, 3)
]
CONTENT = "\n".join(
    "\t".join(row) for row in [("!amt_worker_ids", "orig_id", "response", "gold"), *ROWS]
).encode()
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@dataclass
class Site:
    """What the server does, and what it was asked."""

    content: bytes = CONTENT
    status: int = 200
    knows_ranges: bool = True
    cuts: list[int] = field(default_factory=list)  # bytes after which the next answers break off
    silent: threading.Event | None = None  # no answer until it is set
    asked: list[str | None] = field(default_factory=list)  # the Range of each request
    encodings: list[str | None] = field(default_factory=list)  # the Accept-Encoding of each
    sent: list[int] = field(default_factory=list)  # bytes of each answer
    url: str = ""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        site = self.server.site
        wanted = self.headers["Range"]
        site.asked.append(wanted)
        site.encodings.append(self.headers["Accept-Encoding"])
        if site.silent is not None:
            site.silent.wait()
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        status = site.status
        if status == 200 and wanted and site.knows_ranges:
            status = 206 if start < len(site.content) else 416
        body = {200: site.content, 206: site.content[start:]}.get(status, b"")
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 206:
            size = len(site.content)
            self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        self.end_headers()
        body = body[: site.cuts.pop(0)] if site.cuts and body else body
        site.sent.append(len(body))  # before the client can have it all
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def site():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.site = Site()
        server.site.url = f"http://127.0.0.1:{server.server_address[1]}/toy.tsv"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.site
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Download into an empty folder, straight, and without pooch's pause before it retries."""
    monkeypatch.delenv("COTERIE_DATA", raising=False)
    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    monkeypatch.setattr(fetching, "TIMEOUT", 3_600)  # a busy machine is not a silent server
    return tmp_path / "cache"


def toy(url, sha256=SHA256):
    return File("toy.tsv", url, sha256)


def files(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def leave_part(cache, content):
    part = cache / "toy" / "toy.tsv.part"
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_bytes(content)
    return part


@pytest.mark.parametrize(
    ("part", "knows_ranges", "asked"),
    [
        (None, True, [None]),
        (CONTENT[:10_000], True, ["bytes=10000-"]),
        (CONTENT[:10_000], False, ["bytes=10000-"]),  # all is sent again
        (b"x" * 10_000, True, ["bytes=10000-", None]),  # a wrong part is dropped
        (CONTENT + b"x", True, [f"bytes={len(CONTENT) + 1}-", None]),
    ],
    ids=["whole", "resumed", "no ranges", "wrong part", "too long a part"],
)
def test_a_download_goes_on_from_what_is_there(site, cache, part, knows_ranges, asked):
    site.knows_ranges = knows_ranges
    if part is not None:
        leave_part(cache, part)
    for _ in range(2):  # the second time nothing is fetched
        path = fetch("toy", toy(site.url))
        assert path == cache / "toy" / "toy.tsv"
        assert path.read_bytes() == CONTENT
    assert files(cache) == ["toy/toy.tsv"]
    assert site.asked == asked
    assert site.encodings == ["identity"] * len(asked)  # a range of a compressed answer is of other
    if part is None or not knows_ranges:
        assert site.sent == [len(CONTENT)]


def test_load_downloads_parses_and_caches(site, monkeypatch):
    entry = Entry((toy(site.url),), snow, 700, 2, 1400, ("0", "1"), "none", "nobody", "a toy")
    monkeypatch.setitem(datasets.REGISTRY, "toy", entry)
    for _ in range(2):
        data = datasets.load("toy")
        assert data.annotations.describe() == (
            "700 items x 2 annotators, 1,400 labels, 2 classes, 0.0 % missing"
        )
        assert data.truth.to_dict() == {f"item{i}": str(i % 2) for i in range(700)}
        assert data.annotations.annotators.tolist() == ["a0000", "a0001"]
    assert len(site.asked) == 1


def test_damaged_cached_file_is_fetched_again(site):
    path = fetch("toy", toy(site.url))
    path.write_bytes(CONTENT[:-1])
    assert fetch("toy", toy(site.url)).read_bytes() == CONTENT
    assert len(site.asked) == 2


def test_cut_connection_is_resumed_in_the_same_call(site, cache):
    site.cuts = [20_000]
    assert fetch("toy", toy(site.url)).read_bytes() == CONTENT
    first, second = site.asked
    got = int(second.removeprefix("bytes=").removesuffix("-"))
    assert first is None
    assert 20_000 - CHUNK <= got <= 20_000
    assert site.sent == [20_000, len(CONTENT) - got]
    assert files(cache) == ["toy/toy.tsv"]


def test_connection_cut_again_and_again_is_resumed_by_the_next_call(site, cache):
    site.cuts = [9_000, 9_000]
    with pytest.raises(CoterieError, match=r"connection broke off; .* run again") as caught:
        fetch("toy", toy(site.url))
    assert files(cache) == ["toy/toy.tsv.part"]
    kept = (cache / "toy" / "toy.tsv.part").read_bytes()
    assert 2 * (9_000 - CHUNK) <= len(kept) <= 18_000
    assert CONTENT.startswith(kept)
    assert f"{len(kept):,} bytes are kept" in str(caught.value)
    assert fetch("toy", toy(site.url)).read_bytes() == CONTENT
    assert site.asked[2:] == [f"bytes={len(kept)}-"]
    assert site.sent[2:] == [len(CONTENT) - len(kept)]
    assert files(cache) == ["toy/toy.tsv"]


def test_interrupted_download_keeps_what_it_got(site, cache, monkeypatch):
    def interrupted(url, target):
        target.write_bytes(CONTENT[:5_000])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(fetching, "_download", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fetch("toy", toy(site.url))
    assert files(cache) == ["toy/toy.tsv.part"]
    assert fetch("toy", toy(site.url)).read_bytes() == CONTENT
    assert site.asked == ["bytes=5000-"]


def test_wrong_checksum_is_not_kept(site, cache):
    site.content = CONTENT + b"\n"
    with pytest.raises(DataError, match=r"'toy' .* was not kept; .* COTERIE_DATA") as caught:
        fetch("toy", toy(site.url))
    assert SHA256 in str(caught.value)
    assert hashlib.sha256(site.content).hexdigest() in str(caught.value)
    assert site.url in str(caught.value)
    assert files(cache) == []


@pytest.fixture
def deaf():
    """An address where nobody listens: the port is taken, so that nobody else will."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/toy.tsv"


def test_no_network(deaf, cache):
    with pytest.raises(CoterieError) as caught:
        fetch("toy", toy(deaf))
    assert str(caught.value) == (
        f"data set 'toy' could not be fetched from {deaf}: no connection; check the network, "
        "or set COTERIE_DATA to a folder that holds toy/toy.tsv"
    )
    assert files(cache) == []
    part = leave_part(cache, CONTENT[:10_000])
    with pytest.raises(CoterieError, match="no connection; 10,000 bytes are kept, run again"):
        fetch("toy", toy(deaf))
    assert part.read_bytes() == CONTENT[:10_000]


def test_missing_page(site, cache):
    site.status = 404
    with pytest.raises(CoterieError, match=r"toy.tsv: the server answered 404 Not Found; .* set"):
        fetch("toy", toy(site.url))
    assert files(cache) == []


def test_silent_server(site, monkeypatch):
    site.silent = threading.Event()
    monkeypatch.setattr(fetching, "TIMEOUT", 0.2)
    try:
        with pytest.raises(CoterieError, match=r"no answer in 0.2 seconds; check the network"):
            fetch("toy", toy(site.url))
    finally:
        site.silent.set()


def test_cache_that_cannot_be_written(site, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(CoterieError, match=r"'toy' cannot be kept in .* set COTERIE_CACHE"):
        fetch("toy", toy(site.url))
    assert site.asked == []


def test_downloads_at_the_same_time_do_not_disturb_each_other(site, cache):
    leave_part(cache, CONTENT[:10_000])
    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(lambda _: fetch("toy", toy(site.url)), range(8)))
    assert {path.read_bytes() for path in paths} == {CONTENT}
    assert site.asked.count("bytes=10000-") <= 1
    assert files(cache) == ["toy/toy.tsv"]


def test_missing_pooch(site, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingExtraError) as caught:
        fetch("toy", toy(site.url))
    assert str(caught.value) == (
        "downloading data set 'toy' needs pooch: pip install \"coterie[datasets]\""
    )


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    monkeypatch.setenv("COTERIE_DATA", str(tmp_path / "mirror"))
    monkeypatch.setitem(sys.modules, "pooch", None)  # it is not needed
    path = tmp_path / "mirror" / "toy" / "toy.tsv"
    path.parent.mkdir(parents=True)
    return path


def test_mirror_is_read_in_place_and_checked(site, mirror, cache):
    with pytest.raises(DataError, match=r"'toy' should be in .*toy.tsv .* unset COTERIE_DATA"):
        fetch("toy", toy(site.url))
    mirror.write_bytes(b"something else")
    with pytest.raises(DataError, match="is not the file published at") as caught:
        fetch("toy", toy(site.url))
    assert SHA256 in str(caught.value)
    assert hashlib.sha256(b"something else").hexdigest() in str(caught.value)
    assert mirror.read_bytes() == b"something else"
    mirror.write_bytes(CONTENT)
    assert fetch("toy", toy(site.url)) == mirror
    assert site.asked == []
    assert not cache.exists()
