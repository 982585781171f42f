"""One atomic writer, one container of arrays and a header, values as JSON."""
