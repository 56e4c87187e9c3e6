"""What the warehouse answers, as schemas: what does not fit is not taken."""

from __future__ import annotations

from toa.manifests.schemas import compile_schema

MOST = 1_000_000_000
"""Pieces of one product: a figure above is a mistake."""

_NAME = {"type": "string", "minLength": 1, "maxLength": 64}
_SHELF = {
    "type": "object",
    "required": ["product", "available"],
    "properties": {"product": _NAME, "available": {"type": "integer", "minimum": 0, "maximum": MOST}},
}

INVENTORY = compile_schema(
    {
        "type": "object",
        "required": ["items", "next"],
        "properties": {
            "items": {"type": "array", "maxItems": 1000, "items": _SHELF},
            "next": {**_NAME, "type": ["string", "null"]},
        },
    }
)
STATUS = compile_schema(
    {
        "type": "object",
        "required": ["order", "status"],
        "properties": {"order": _NAME, "status": {"type": "string", "enum": ["unknown", "queued", "picked"]}},
    }
)
PICK = compile_schema(
    {
        "type": "object",
        "required": ["order", "status"],
        "properties": {"order": _NAME, "status": {"type": "string", "enum": ["queued", "picked"]}},
    }
)
