"""What annotation platforms export -> labels: one file per format behind one small port."""

from coterie.io.exports.back import export
from coterie.io.exports.port import ExportFormat, Other, Submission, Ticked
from coterie.io.exports.registry import FORMATS
from coterie.io.exports.rows import ExportRows, read_export
from coterie.io.reading import Reading as Options

__all__ = [
    "FORMATS",
    "ExportFormat",
    "ExportRows",
    "Options",
    "Other",
    "Submission",
    "Ticked",
    "export",
    "read_export",
]
