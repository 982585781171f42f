"""Provenance in the header of a saved file, and back."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from coterie.data.provenance import Export, Form, Format, Gold, Provenance, Source
from coterie.files.json_values import from_json, to_json


def provenance_to_json(provenance: Provenance | None) -> Any:
    """Give what JSON can write; names of columns that it cannot keep become text."""
    if provenance is None:
        return None
    gold = provenance.gold
    facts = {
        "source": _source_facts(provenance.source),
        "form": provenance.form.value,
        "item": provenance.item,
        "annotators": provenance.annotators,
        "label": provenance.label,
        "gold": gold and {"column": gold.column, "source": _source_facts(gold.source)},
        "duplicates": provenance.duplicates,
        "classes": provenance.classes,
        "extra_answers": provenance.extra_answers,
        "unread": provenance.unread,
        "export": provenance.export and asdict(provenance.export),
        "anonymised": provenance.anonymised,
    }
    return to_json(facts, or_text=True)


def _source_facts(source: Source | None) -> dict[str, str | None] | None:
    if source is None:
        return None
    return {
        "name": source.name,
        "format": source.format.value,
        "path": source.path,
        "note": source.note,
    }


def provenance_from_json(found: Any) -> Provenance | None:
    """Give the provenance back; ValueError or the like if what was found is none."""
    if found is None:
        return None
    facts = from_json(found)
    gold = facts["gold"]
    return Provenance(
        source=_source(facts["source"]),
        form=Form(facts["form"]),
        item=facts["item"],
        annotators=tuple(facts["annotators"]),
        label=facts["label"],
        gold=None if gold is None else _gold(gold),
        duplicates=str(facts["duplicates"]),
        classes=_tuple_or_none(facts["classes"]),
        extra_answers=_tuple_or_none(facts["extra_answers"]),
        unread=tuple(facts["unread"]),
        export=_export(facts.get("export")),
        anonymised=bool(facts.get("anonymised", False)),
    )


def _source(facts: Any) -> Source:
    path = facts["path"]
    return Source(
        name=str(facts["name"]),
        format=Format(facts["format"]),
        path=None if path is None else str(path),
        note=str(facts["note"]),
    )


def _gold(facts: Any) -> Gold:
    source = facts["source"]
    return Gold(column=facts["column"], source=None if source is None else _source(source))


def _export(facts: Any) -> Export | None:
    if facts is None:
        return None
    names = ("left_out", "kept", "told")  # files of older versions do not say what was kept
    facts = {"kept": (), **facts}
    pairs = {name: tuple(tuple(pair) for pair in facts[name]) for name in names}
    known = {field.name: facts[field.name] for field in fields(Export)}
    texts = {name: tuple(map(str, facts[name])) for name in ("notes", "paths")}
    return Export(**{**known, **pairs, **texts})


def _tuple_or_none(values: Any) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)
