"""Money and its like: text in plain digits outside, `Decimal` inside, never a float, never rounded."""

from __future__ import annotations

import re
from decimal import Context, Decimal

DIGITS = 20
PLACES = 2
MAX_DIGITS = 100

_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.([0-9]+))?")
# Wide enough for every declared number of digits, and silent: what was rounded is found by comparing.
_CONTEXT = Context(prec=2 * MAX_DIGITS, traps=[])


class UnfitDecimal(ValueError):
    """A value that is no decimal of the declared size."""


class DecimalRule:
    """`digits` in all, `places` of them after the point."""

    __slots__ = ("_limit", "_unit", "digits", "places")

    def __init__(self, digits: int = DIGITS, places: int = PLACES) -> None:
        self.digits = digits
        self.places = places
        self._unit = Decimal((0, (1,), -places))
        self._limit = Decimal((0, (1,), digits - places))

    def read(self, value: object) -> Decimal:
        """The decimal that a JSON text or a `Decimal` stands for, with exactly `places` digits after the point.

        A number that is not text is refused, because JSON numbers become floats on their way. So are more places than
        declared: written ones in a text, those that carry value in a `Decimal`. Raises UnfitDecimal.
        """
        if type(value) is Decimal and value.same_quantum(self._unit) and value and abs(value) < self._limit:
            return value  # what a draft holds
        if isinstance(value, str):
            value = self._parse(value)
        elif not isinstance(value, Decimal):
            shown = "" if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS else f" ({value!r})"
            raise UnfitDecimal(f'an amount is text in plain digits, such as "12.50", not a JSON number{shown}')
        if not value.is_finite():
            raise UnfitDecimal(f"{value} is no amount")
        if abs(value) >= self._limit:
            raise UnfitDecimal(f"the amount has more than {self.digits - self.places} digits before the point")
        if value.same_quantum(self._unit) and not (value.is_zero() and value.is_signed()):
            return value
        exact = value.quantize(self._unit, context=_CONTEXT)
        if exact != value:
            raise UnfitDecimal(f"{value} has more than {self.places} places")
        return exact if exact else abs(exact)

    def _parse(self, text: str) -> Decimal:
        if len(text) > 2 * MAX_DIGITS:
            raise UnfitDecimal(f"an amount of {len(text)} characters is too long")
        match = _PLAIN.fullmatch(text)
        if match is None:
            raise UnfitDecimal(f'{text!r} is no decimal in plain digits, such as "12.50"')
        if match[1] is not None and len(match[1]) > self.places:
            raise UnfitDecimal(f"{text!r} has more than {self.places} places")
        return Decimal(text)


def plain(value: Decimal) -> str:
    """A decimal as text in plain digits, without an exponent. Raises ValueError for NaN and infinities."""
    if not value.is_finite():
        raise ValueError(f"{value} cannot be written in plain digits")
    return format(value, "f")
