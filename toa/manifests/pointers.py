"""JSON pointers: where a value or a sub-schema stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote


def pointer(path: Iterable[str | int]) -> str:
    """A path as a JSON pointer: `/lines/0/total`; the whole value is the empty text."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def parts(text: str) -> tuple[str, ...]:
    """The parts of a local reference `#/definitions/line`. Raises ValueError for anything else."""
    if text == "#":
        return ()
    if not text.startswith("#/"):
        raise ValueError(f"{text!r} is no local reference")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in unquote(text[2:]).split("/"))


def canonical(text: str) -> str:
    """A local reference as a URI has it, whichever way its author escaped it."""
    return "#" + quote(unquote(text[1:]), safe="/~")


def resolve(root: Any, reference: str) -> Any:
    """The part of `root` that a local reference names. Raises LookupError or ValueError where there is none."""
    found = root
    for part in parts(reference):
        if isinstance(found, Mapping):
            found = found[part]
        elif isinstance(found, list) and part.isdigit() and int(part) < len(found):
            found = found[int(part)]
        else:
            raise LookupError(reference)
    return found
