"""The entries of a mapping, checked against its table of keys: unknown ones and those of a wrong kind are out."""

from __future__ import annotations

from typing import Any

from toa.core.nearest import did_you_mean, nearest
from toa.manifests.keys import Key, Kind, Table
from toa.manifests.place import Place, described
from toa.manifests.problems import UNKNOWN_KEY, WRONG_KIND, WRONG_VALUE


class Fields:
    """What a mapping holds under the keys of its table. What was refused is missing here, and reported."""

    def __init__(self, place: Place, table: Table) -> None:
        self.place = place
        self.entries: dict[str, Place] = {}
        if place.value is not None and not isinstance(place.value, dict):
            place.error(f"must be a mapping, not {described(place.value)}", id=WRONG_KIND)
            return
        for entry in place.entries():
            key = table.get(entry.name)
            if key is None:
                entry.error(
                    f"no key is called '{entry.name}' here",
                    hint=did_you_mean(entry.name, sorted(table)),
                    id=UNKNOWN_KEY,
                    key=True,
                )
            elif fits(entry, key):
                self.entries[entry.name] = entry

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def get(self, key: str) -> Place | None:
        return self.entries.get(key)

    def text(self, key: str, default: str = "") -> str:
        found = self.entries.get(key)
        return default if found is None else str(found.value)

    def flag(self, key: str, default: bool = False) -> bool:
        found = self.entries.get(key)
        return default if found is None else found.value is True

    def integer(self, key: str, default: int) -> int:
        found = self.entries.get(key)
        return default if found is None else int(found.value)

    def names(self, key: str) -> tuple[str, ...]:
        """The sound names of a list, each once."""
        return tuple(place.value for place in self.items(key))

    def items(self, key: str) -> list[Place]:
        """The places of the sound names of a list, each name once; what else is in it has been reported."""
        found = self.entries.get(key)
        return sound_names(found) if found else []


def fits(place: Place, key: Key) -> bool:
    """Whether a value is of its key's kind, or of one of its short forms. Reports it where it is not."""
    value = place.value
    if value is None and (key.null or key.kind in (Kind.MAPPING, Kind.ANY)):
        return True
    kinds = (key.kind, *key.short)
    kind = next((kind for kind in kinds if _is(kind, value)), None)
    if isinstance(value, str) and not value.strip() and Kind.TEXT in kinds:
        place.error("is empty", id=WRONG_KIND)
        return False
    if kind is None:
        expected = " or ".join(dict.fromkeys(kind.value for kind in kinds))
        place.error(f"must be {expected}, not {described(value)}", hint=_hint(kinds, value), id=WRONG_KIND)
        return False
    if kind is Kind.TEXT and key.values and value not in key.values:
        place.error(f"'{value}' is none of {', '.join(key.values)}", hint=meant(value, key.values), id=WRONG_VALUE)
        return False
    if kind is Kind.INTEGER:
        return _within(place, key, value)
    if kind is Kind.NAMES:
        _check_names(place)
    return True


def _is(kind: Kind, value: Any) -> bool:
    match kind:
        case Kind.TEXT:
            return isinstance(value, str) and value.strip() != ""
        case Kind.FLAG:
            return isinstance(value, bool)
        case Kind.INTEGER:
            return isinstance(value, int) and not isinstance(value, bool)
        case Kind.NAMES:
            return isinstance(value, list)
        case Kind.MAPPING:
            return isinstance(value, dict)
        case Kind.SCHEMA:
            return isinstance(value, (str, dict, bool))
        case Kind.DURATION:
            return isinstance(value, (int, float, str)) and not isinstance(value, bool)
        case Kind.ANY:
            return True


def _hint(kinds: tuple[Kind, ...], value: Any) -> str:
    """What was probably meant: words that other dialects of YAML take for booleans, one name without its brackets."""
    if Kind.FLAG in kinds and isinstance(value, str):
        meant = {"yes": "true", "on": "true", "no": "false", "off": "false"}.get(value.casefold(), value.casefold())
        return f"write {meant}" if meant in ("true", "false") else ""
    if Kind.NAMES in kinds and isinstance(value, str):
        return f"write [{value}]"
    if Kind.INTEGER in kinds and isinstance(value, str):
        return "numbers are plain digits"
    if Kind.TEXT in kinds and isinstance(value, (int, float)):
        return "quote it"
    return ""


def _within(place: Place, key: Key, value: int) -> bool:
    if (key.least is None or value >= key.least) and (key.most is None or value <= key.most):
        return True
    place.error(f"must be from {key.least} to {key.most}, not {value}", id=WRONG_VALUE)
    return False


def _check_names(place: Place) -> None:
    seen: set[str] = set()
    for item in place.entries():
        if not isinstance(item.value, str) or not item.value:
            item.error(f"must be a name, not {described(item.value)}", id=WRONG_KIND)
        elif item.value in seen:
            item.error(f"'{item.value}' stands twice", id=WRONG_VALUE)
        else:
            seen.add(item.value)


def sound_names(place: Place) -> list[Place]:
    """The entries of a list that are names, each name once."""
    found: dict[str, Place] = {}
    for item in place.entries() if isinstance(place.value, list) else ():
        if isinstance(item.value, str) and item.value:
            found.setdefault(item.value, item)
    return list(found.values())


def meant(value: str, known: tuple[str, ...]) -> str:
    """A hint towards the nearest of a few values that the message lists anyway."""
    found = nearest(value, known)
    return f"did you mean '{found}'?" if found else ""
