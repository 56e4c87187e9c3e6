"""`Error`: a declared refusal, which is a reply and not a failure."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """A reply that says no, for a reason the manifest declares under `errors:`.

    May be returned or raised by an operation. Nothing of the call is written, no event is raised, a once key
    remembers nothing. `details` are JSON-ready values shown to the caller beside the code.
    """

    def __init__(self, code: str, **details: Any) -> None:
        super().__init__(code)
        self.code = code
        self.details = details

    def __bool__(self) -> bool:
        """False, so that `if not reply` reads as it should."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Error) and (self.code, self.details) == (other.code, other.details)

    def __hash__(self) -> int:
        return hash(self.code)

    def __repr__(self) -> str:
        return f"Error({self.code!r}{''.join(f', {k}={v!r}' for k, v in self.details.items())})"
