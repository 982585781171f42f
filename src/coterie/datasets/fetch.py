"""Where the bytes of a published file come from: a folder, the cache, or its address."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.datasets.registry import File
from coterie.errors import CoterieError, DataError, MissingExtraError

if TYPE_CHECKING:
    import requests

TIMEOUT = 30.0  # seconds without a byte
# A cut connection loses at most one chunk, so that chunks are small.
CHUNK = 4096


def fetch(dataset: str, file: File) -> Path:
    """Give the path of a published file whose checksum is right.

    It is read from ``$COTERIE_DATA/<dataset>/<file>`` if that variable is set. Otherwise it is
    downloaded, once, into ``$COTERIE_CACHE``, by default the platform's folder for caches.
    """
    if not os.environ.get("COTERIE_DATA"):
        return _cached(dataset, file)
    folder = Path(os.environ["COTERIE_DATA"])
    path = folder / dataset / file.name
    if not path.is_file():
        raise DataError(
            f"data set {dataset!r} should be in {path} (COTERIE_DATA is {folder}), which is not "
            "there; put it there, or unset COTERIE_DATA to download it"
        )
    with path.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found != file.sha256:
        raise DataError(
            f"{path} is not the file published at {file.url}: its sha256 should be {file.sha256}, "
            f"it is {found}; replace it, or unset COTERIE_DATA to download it"
        )
    return path


def _cached(dataset: str, file: File) -> Path:
    try:
        import pooch
        import requests
    except ImportError as error:
        raise MissingExtraError(f"downloading data set {dataset!r}", "pooch", "datasets") from error
    key = f"{dataset}/{file.name}"
    cache = pooch.create(
        path=pooch.os_cache("coterie"),
        base_url="",
        env="COTERIE_CACHE",
        registry={key: f"sha256:{file.sha256}"},
        urls={key: file.url},
        # The second attempt goes on from what the first one got, or starts afresh if that,
        # completed, had the wrong checksum.
        retry_if_failed=1,
    )
    download = ResumingDownloader(Path(cache.abspath) / f"{key}.part")
    mirror = f"set COTERIE_DATA to a folder that holds {key}"
    try:
        return Path(cache.fetch(key, downloader=download))
    except requests.RequestException as error:
        kept = download.part.stat().st_size if download.part.exists() else 0
        remedy = f"{kept:,} bytes are kept, run again for the rest" if kept else "check the network"
        raise CoterieError(
            f"data set {dataset!r} could not be fetched from {file.url}: {_reason(error)}; "
            f"{remedy}, or {mirror}"
        ) from error
    except OSError as error:
        raise CoterieError(
            f"data set {dataset!r} cannot be kept in {cache.abspath} ({error}); set COTERIE_CACHE "
            "to a folder that can be written"
        ) from error
    except ValueError as error:
        raise DataError(
            f"data set {dataset!r} at {file.url} came damaged, or has changed, and was not kept; "
            f"try again later, or {mirror}: {error}"
        ) from error


class ResumingDownloader:
    """A downloader for pooch that keeps what it got of a broken download, and goes on from it."""

    def __init__(self, part: Path) -> None:
        self.part = part

    def __call__(self, url: str, output_file: Any, pooch: Any) -> None:
        """Download an address into a file that pooch has made, checks, and puts in its place."""
        target = Path(output_file)
        # Moved, not shared: of two processes that download one file, only one can go on from the
        # part, and neither writes into the file of the other.
        with suppress(FileNotFoundError):
            self.part.replace(target)
        try:
            _download(url, target)
        except BaseException:  # Ctrl-C too
            if target.stat().st_size:
                target.replace(self.part)
            raise


def _download(url: str, target: Path) -> None:
    """Append to the target what it lacks of the content of the address."""
    import requests

    got = target.stat().st_size
    # A range of a compressed answer would be a range of other bytes.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={got}-"} if got else {})
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        if got and response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            target.write_bytes(b"")
            _download(url, target)
            return
        response.raise_for_status()
        goes_on = response.status_code == HTTPStatus.PARTIAL_CONTENT
        with target.open("ab" if goes_on else "wb") as out:
            for chunk in response.iter_content(CHUNK):
                out.write(chunk)


def _reason(error: requests.RequestException) -> str:
    """Say in a few words why a download failed."""
    import requests

    if error.response is not None:
        return f"the server answered {error.response.status_code} {error.response.reason}"
    reasons: list[tuple[type[Exception], str]] = [
        (requests.exceptions.SSLError, "the server's certificate was not accepted"),
        (requests.Timeout, f"no answer in {TIMEOUT:g} seconds"),
        (requests.ConnectionError, "no connection"),
        (requests.exceptions.ChunkedEncodingError, "the connection broke off"),
    ]
    return next((words for kind, words in reasons if isinstance(error, kind)), str(error))
