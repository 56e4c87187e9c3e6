"""What the provider answers, as a schema: what does not fit is not taken."""

from __future__ import annotations

from toa.manifests.schemas import compile_schema

REFUND = compile_schema(
    {
        "type": "object",
        "required": ["refund"],
        "properties": {"refund": {"type": "string", "minLength": 1, "maxLength": 64}},
    }
)
