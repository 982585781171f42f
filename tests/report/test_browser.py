"""The page in a real browser: it renders, its controls work, nothing leaves it, all can read it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from builders import reported
from coterie.report import render
from coterie.words.names import name
from ladder.marks import rest_slow

axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright",
    reason="axe-playwright-python is not installed: pip install --group test",
)

DESKTOP, PHONE = (1280, 900), (390, 844)


@pytest.fixture(scope="module")
def posterior():
    return reported.crowd(items=60, annotators=20, unlabelled=1, draws=80)


@pytest.fixture(scope="module")
def truth(posterior):
    classes = posterior.annotations.classes
    return pd.Series(np.resize(classes, 60), posterior.annotations.items)


@pytest.fixture(scope="module")
def file(posterior, truth, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render(posterior, truth=truth), "utf-8")
    return path


def names(page):
    return page.locator("#annotator-table tbody tr:visible > th").all_inner_texts()


def column(page, place):
    cells = page.locator(f"#annotator-table tbody tr > :nth-child({place})")
    return [cell.get_attribute("data-v") or cell.inner_text() for cell in cells.all()]


def shown_matrix(page):
    table = page.locator("tr.detail table")
    rows = table.locator("tbody tr").all()
    first = "cell => Number(cell.firstChild.textContent)"
    return [[cell.evaluate(first) for cell in row.locator("td").all()] for row in rows]


def test_it_renders_every_section(visit, file, posterior):
    page = visit(file)
    assert page.title() == "What 20 annotators say about 60 items"
    headings = page.locator("h2").all_inner_texts()
    assert headings == [
        "Coteries", "Annotators", "Items", "Against the truth", "Who goes with whom", "Classes",
        "Agreement", "Convergence", "Settings", "Words",
    ]  # fmt: skip
    assert page.locator(".coterie").count() == len(posterior.coteries())
    for locator in page.locator("main svg[role=img]").all():
        box = locator.bounding_box()
        assert box["width"] > 100
        assert box["height"] > 50
    image = page.locator("svg image").evaluate(
        """image => new Promise((good, bad) => {
          const copy = new Image();
          copy.onload = () => good(copy.naturalWidth);
          copy.onerror = bad;
          copy.src = image.getAttribute("href");
        })"""
    )
    assert image == 19  # one pixel an annotator with labels


def test_the_style_is_applied(visit, file):
    page = visit(file)
    cell = page.locator("td.h20, td.h19, td.h18").first
    assert cell.evaluate("cell => getComputedStyle(cell).backgroundColor") != "rgba(0, 0, 0, 0)"


def test_sorting(visit, file, posterior):
    page = visit(file)
    sorted_by = page.locator("#annotator-table th[aria-sort]")
    assert sorted_by.all_inner_texts() == ["labels"]
    assert sorted_by.get_attribute("aria-sort") == "descending"
    accuracy = page.get_by_role("button", name="accuracy")
    accuracy.click()
    assert sorted_by.all_inner_texts() == ["accuracy"]
    values = [float(value) for value in column(page, 5)]
    assert values == sorted(values, reverse=True)
    assert len(values) == 20
    heading = page.locator("#annotator-table thead th", has_text="accuracy")
    assert heading.get_attribute("aria-sort") == "descending"
    accuracy.click()
    values = [float(value) for value in column(page, 5)]
    assert values == sorted(values)
    assert heading.get_attribute("aria-sort") == "ascending"
    page.locator("#annotator-table").get_by_role("button", name="annotator", exact=True).click()
    assert heading.get_attribute("aria-sort") is None
    assert names(page) == sorted(posterior.annotations.annotators)
    page.get_by_role("button", name="coterie", exact=True).click()
    assert column(page, 3)[-1] == "–"  # what is missing goes last, whichever way
    page.get_by_role("button", name="coterie", exact=True).click()
    assert column(page, 3)[-1] == "–"


def test_sorting_back_restores_the_order(visit, tmp_path):
    made = reported.crowd(items=60)
    close = np.linspace(0.9, 0.900001, 60)  # all alike as shown
    probability = np.stack([close, 1 - close, np.zeros(60)], axis=1)
    path = tmp_path / "close.html"
    path.write_text(render(replace(made, item_probability=probability)), "utf-8")
    page = visit(path)
    rows = page.locator("#item-table tbody tr > th")
    ordered = sorted(made.annotations.items)
    assert rows.all_inner_texts() == ordered
    page.get_by_role("button", name="certainty").click()
    assert rows.all_inner_texts() == ordered[::-1]
    page.get_by_role("button", name="certainty").click()
    assert rows.all_inner_texts() == ordered


LONG = ["Entertainment & lifestyle", "Politics & government", "Science and technology", "Sports"]


@pytest.mark.parametrize(("width", "media"), [(1200, "screen"), (688, "print")])
@pytest.mark.parametrize("classes", rest_slow([3, 5, 8, 12, 30], 0, 4))
@pytest.mark.parametrize("word", ["{}", "{1}"])
def test_matrices_are_seen_whole(visit, tmp_path, width, media, classes, word):
    labels = [word.format(f"{LONG[t % 4]} {t}", f"c{t}") for t in range(classes)]
    made = reported.crowd(items=90, classes=classes, label_names=labels, extra=("unsure",))
    path = tmp_path / "matrices.html"
    truth = pd.Series(np.resize(labels, 90), made.annotations.items)
    path.write_text(render(made, truth=truth), "utf-8")
    page = visit(path, (width, 900))
    page.emulate_media(media=media)
    if media == "screen":
        page.get_by_role("button", name="w0003", exact=True).click()
    sizes = page.locator(".scroll:has(> .heat)").evaluate_all(
        "boxes => boxes.map(box => [box.getAttribute('aria-label'), box.scrollWidth, "
        "box.clientWidth])"
    )
    assert len(sizes) >= 3
    assert [size for size in sizes if size[1] > size[2]] == []


def test_a_bar_stands_in_the_middle_of_its_line(visit, file):
    page = visit(file)
    row = page.locator("#annotator-table tbody tr").first
    middle = """row => [row.querySelector("svg"), row.cells[1].firstChild].map(node => {
      const range = document.createRange();
      range.selectNode(node);
      const box = range.getBoundingClientRect();
      return (box.top + box.bottom) / 2;
    })"""
    bar, text = row.evaluate(middle)
    assert abs(bar - text) <= 2


def test_filtering(visit, file, posterior):
    page = visit(file)
    table = posterior.annotators()
    form = page.locator("form[data-for=annotator-table]")
    assert form.locator("output").inner_text() == "20 shown"
    form.get_by_label("Name").fill("W001")
    assert sorted(names(page)) == [f"w{l:04d}" for l in range(10, 20)]
    assert form.locator("output").inner_text() == "10 of 20 shown"
    form.get_by_label("Name").fill("no such name")
    assert names(page) == []
    assert form.locator("output").inner_text() == "none fits"
    form.get_by_label("Name").fill("")
    form.get_by_label("Coterie").select_option("2")
    assert sorted(names(page)) == table.loc[table["coterie"] == 2, "annotator"].tolist()
    form.get_by_label("Coterie").select_option("")
    role = table["role"].iloc[0]
    form.get_by_label("Role").select_option(role)
    assert sorted(names(page)) == table.loc[table["role"] == role, "annotator"].tolist()
    items = page.locator("form[data-for=item-table]")
    items.get_by_label("Item").fill("q000007")
    page.wait_for_function("document.querySelectorAll('#item-table tbody tr').length === 1")
    assert items.locator("output").inner_text() == "1 of 60"
    items.get_by_label("Item").fill("")
    assert page.locator("#item-table tbody tr").count() == 60


def test_a_click_shows_the_annotators_matrix(visit, file, posterior):
    page = visit(file)
    for who in ("w0000", "w0013"):
        button = page.get_by_role("button", name=who, exact=True)
        assert button.get_attribute("aria-expanded") == "false"
        button.click()
        assert button.get_attribute("aria-expanded") == "true"
        exact = np.rint(100 * posterior.confusion(who).to_numpy()).astype(int).tolist()
        assert shown_matrix(page) == exact
        caption = page.locator("tr.detail caption").inner_text()
        assert caption == f"Answers of {who}, in %"
        assert "95 % intervals" in page.locator("tr.detail .note").inner_text()
        button.focus()
        page.keyboard.press("Enter")
        assert page.locator("tr.detail").count() == 0


def test_an_opened_matrix_stays_with_its_annotator(visit, file, posterior):
    page = visit(file)
    page.get_by_role("button", name="w0007", exact=True).click()
    exact = np.rint(100 * posterior.confusion("w0007").to_numpy()).astype(int).tolist()
    above = "detail => detail.previousElementSibling.cells[0].textContent"
    for heading in ("informativeness", "annotator"):
        page.locator("#annotator-table").get_by_role("button", name=heading, exact=True).click()
        assert page.locator("tr.detail").evaluate(above) == "w0007"
        assert shown_matrix(page) == exact
    form = page.locator("form[data-for=annotator-table]")
    form.get_by_label("Name").fill("w0008")
    assert page.locator("tr.detail").is_hidden()
    assert form.locator("output").inner_text() == "1 of 20 shown"
    form.get_by_label("Name").fill("w0007")
    assert page.locator("tr.detail").is_visible()
    page.get_by_role("button", name="w0007", exact=True).click()
    assert page.locator("tr.detail").count() == 0


def test_the_filter_searches_whole_names(visit, tmp_path):
    names_ = [f"{'left' * 20}-{l:03}-{'right' * 10}" for l in range(12)]
    path = tmp_path / "long.html"
    path.write_text(render(reported.crowd(names=names_)), "utf-8")
    page = visit(path)
    page.locator("form[data-for=annotator-table]").get_by_label("Name").fill("-007-")
    assert (
        page.locator("#annotator-table tbody tr:visible bdi[title]").get_attribute("title")
        == (names_[7])
    )


def test_a_card_leads_to_its_annotators(visit, file, posterior):
    page = visit(file)
    page.locator("a[data-coterie='1']").click()
    table = posterior.annotators()
    assert sorted(names(page)) == table.loc[table["coterie"] == 1, "annotator"].tolist()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(visit, file, size, scheme):
    page = visit(file, size, color_scheme=scheme)
    page.get_by_role("button", name="w0003", exact=True).click()
    for summary in page.locator("summary").all():
        summary.click()
    found = axe.Axe().run(page).response["violations"]
    assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found] == []


def test_nothing_is_wider_than_a_phone(visit, file):
    page = visit(file, PHONE)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= PHONE[0]


def test_a_table_that_is_cut_fades_where_it_goes_on(visit, tmp_path):
    path = tmp_path / "wide.html"
    path.write_text(render(reported.crowd(items=60, classes=12)), "utf-8")
    page = visit(path, PHONE)
    box = page.locator(".coterie .scroll").first
    mask = "box => getComputedStyle(box).maskImage"
    page.wait_for_selector(".coterie .scroll.more-right")
    assert "gradient" in box.evaluate(mask)
    assert "more-left" not in box.get_attribute("class")
    box.evaluate("box => { box.scrollLeft = 9999; }")
    page.wait_for_selector(".coterie .scroll.more-left:not(.more-right)")
    box.evaluate("box => { box.scrollLeft = 50; }")
    page.wait_for_selector(".coterie .scroll.more-left.more-right")
    page.get_by_role("button", name="w0003", exact=True).click()
    page.wait_for_selector("tr.detail .scroll.more-right")
    found = axe.Axe().run(page).response["violations"]
    assert [rule["id"] for rule in found] == []
    for selector in ("#annotator-table", "#item-table"):
        region = page.locator(f".scroll:has({selector})")
        assert region.evaluate("box => box.scrollWidth <= box.clientWidth + 1")
        assert (region.get_attribute("role"), region.get_attribute("tabindex")) == ("region", "0")


def test_without_script_the_tables_remain(visit, file):
    page = visit(file, java_script_enabled=False)
    assert page.locator("#annotator-table tbody tr").count() == 20
    assert page.locator("#item-table tbody tr").count() == 60
    assert page.locator(".coterie table.heat").first.is_visible()
    assert page.locator("form").first.is_hidden()
    assert page.locator("button").count() == 0


def test_on_paper_the_controls_are_gone(visit, file):
    page = visit(file)
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()
    assert page.locator("form").first.is_hidden()
    assert page.locator("#annotator-table").is_visible()
    assert page.pdf().startswith(b"%PDF")


def test_hostile_names_do_nothing(visit, tmp_path):
    bad = reported.HOSTILE
    made = reported.crowd(
        items=len(bad), annotators=len(bad), names=bad, item_names=bad, label_names=bad[:3],
        extra=bad[3:5],
    )  # fmt: skip
    path = tmp_path / "hostile.html"
    path.write_text(render(made, title=bad[0]), "utf-8")
    page = visit(path)
    for button in page.locator("button.open").all():
        button.hover()
        button.click()
    assert page.locator("tr.detail").count() == len(bad)
    for heading in page.locator("button.sort").all():
        heading.click()
    for box in page.get_by_role("searchbox").all():
        box.fill("<script>")
    assert page.locator("script").count() == 2
    assert page.locator("img, iframe, object, embed, link").count() == 0
    assert page.locator("style").count() == 1
    assert name(bad[0]) in names(page)
    assert page.locator("h1").inner_text() == bad[0]


def test_the_policy_stops_what_is_slipped_in(visit, file):
    page = visit(file)
    done = page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.slipped = 1";
          document.body.append(script);
          const add = (html) => document.body.insertAdjacentHTML("beforeend", html);
          add("<b id=b onclick='window.slipped = 2'>b</b>");
          document.getElementById("b").click();
          add("<img src='https://example.org/x.png'>");
          return window.slipped === undefined;
        }"""
    )
    assert done
    while sum("Content Security Policy" in line for line in visit.seen) < 3:
        page.wait_for_event("console")
    assert not [line for line in visit.seen if line.startswith("dialog")]
    visit.seen.clear()  # the refusals are what was wanted
