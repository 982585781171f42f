"""A real browser for the tests of pages; at the end of each, nothing must have gone wrong."""

import shutil

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DESKTOP = (1280, 900)
A_HANG = 3_600_000  # milliseconds: a busy machine is not a broken page


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install --group test"
    )
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("there is no Chromium to test the page in: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        # The page under test is ours: the sandbox, which root may not use, protects nothing.
        made = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"], timeout=A_HANG
        )
        yield made
        made.close()


class Seen(list):
    """What the page did that it should not do: console, errors, dialogs, requests."""

    def watch(self, page, path):
        page.on("console", lambda message: self.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.append(f"error: {error}"))
        page.on(
            "dialog", lambda dialog: (self.append(f"dialog: {dialog.message}"), dialog.dismiss())
        )
        page.on("request", lambda request: self.note(request.url, path.as_uri()))

    def note(self, url, own):
        if url != own and not url.startswith("data:image/png"):
            self.append(f"request: {url}")


@pytest.fixture
def visit(browser):
    """Open a page; at the end nothing must have been seen."""
    contexts, seen = [], Seen()

    def go(path, size=DESKTOP, **options):
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, offline=True, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(A_HANG)
        seen.watch(page, path)
        page.goto(path.as_uri())
        return page

    go.seen = seen
    yield go
    for context in contexts:
        context.close()
    assert seen == []
