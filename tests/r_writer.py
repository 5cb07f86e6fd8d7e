"""A writer of R's serialisation format, version 2 in XDR, as R Internals describes it.

It shares no code with what reads the files, and writes no more than data frames need.
"""

import gzip
import struct

NA_INT, NA_REAL = -(2**31), struct.pack(">Q", 0x7FF00000000007A2)


def _int(*values):
    return b"".join(struct.pack(">i", value) for value in values)


def _flags(kind, about=(), tag=False):
    """A type, whether the object has a class, attributes, a tag."""
    is_object = any(name == "class" for name, _ in about)
    return _int(kind | (is_object << 8) | (bool(about) << 9) | (tag << 10))


def _char(text):
    if text is None:
        return _int(9, -1)
    content = text.encode()
    return _int(9 | (1 << 15), len(content)) + content  # marked as UTF-8


def _pairs(pairs):
    """A list with tags, as attributes are."""
    return b"".join(
        _flags(2, tag=True) + _int(1) + _char(name) + value for name, value in pairs
    ) + _int(254)


def _vector(kind, count, content, about):
    return _flags(kind, about) + _int(count) + content + (_pairs(about) if about else b"")


def integers(values, *about):
    content = _int(*(NA_INT if value is None else value for value in values))
    return _vector(13, len(values), content, about)


def logicals(values, *about):
    content = _int(*(NA_INT if value is None else int(value) for value in values))
    return _vector(10, len(values), content, about)


def reals(values, *about):
    cells = (NA_REAL if value is None else struct.pack(">d", value) for value in values)
    return _vector(14, len(values), b"".join(cells), about)


def texts(values, *about):
    return _vector(16, len(values), b"".join(map(_char, values)), about)


def factor(codes, levels, *, ordered=False):
    classes = ["ordered", "factor"] if ordered else ["factor"]
    return integers(codes, ("levels", texts(levels)), ("class", texts(classes)))


def data_frame(columns, rows):
    return _vector(
        19,
        len(columns),
        b"".join(columns.values()),
        [
            ("names", texts(list(columns))),
            ("class", texts(["data.frame"])),
            ("row.names", integers([None, -rows])),
        ],
    )


def rds(whole, pack=gzip.compress):
    return pack(b"X\n" + _int(2, 0x00040101, 0x00020300) + whole)


def rda(pack=gzip.compress, **objects):
    return pack(b"RDX2\nX\n" + _int(2, 0x00040101, 0x00020300) + _pairs(objects.items()))
