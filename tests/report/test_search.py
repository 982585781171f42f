"""The search of all items, in a real browser."""

from builders import reported
from coterie.report import Shown, render


def test_all_items_are_searched_and_shown_as_they_are_listed(visit, tmp_path, monkeypatch):
    monkeypatch.setattr("coterie.report.items.MOST_ITEMS", 5)
    made = reported.crowd(items=60, gold=1)
    texts = dict.fromkeys(made.annotations.items, "the same <b>text</b>")
    path = tmp_path / "search.html"
    path.write_text(render(made, shown=Shown(text=texts)), "utf-8")
    page = visit(path)
    rows = page.locator("#item-table tbody tr")
    listed = dict(
        zip(rows.locator("th > bdi").all_inner_texts(), rows.all_inner_texts(), strict=True)
    )
    assert len(listed) == 5
    field = page.locator("form[data-for=item-table]").get_by_role("searchbox")
    for item, text in listed.items():
        field.fill(item)
        page.wait_for_function("document.querySelectorAll('#item-table tbody tr').length === 1")
        assert rows.all_inner_texts() == [text]
    field.fill("<b>TEXT")
    page.wait_for_function("document.querySelectorAll('#item-table tbody tr').length === 50")
    said = page.locator("form[data-for=item-table] output").inner_text()
    assert said == "60 of 60, the first 50 shown"
    assert "known" in rows.first.inner_text()
    page.get_by_role("button", name="certainty").click()
    assert rows.count() == 50
    field.fill("")
    page.wait_for_function("document.querySelectorAll('#item-table tbody tr').length === 5")
