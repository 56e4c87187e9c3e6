"""What the courier answers, as a schema: what does not fit is not taken."""

from __future__ import annotations

from toa.manifests.schemas import compile_schema

BOOKING = compile_schema(
    {
        "type": "object",
        "required": ["booking"],
        "properties": {"booking": {"type": "string", "minLength": 1, "maxLength": 64}},
    }
)
