"""What a module calls, by the names under which it imports it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping


def calls(tree: ast.Module) -> Iterator[tuple[ast.Call, str]]:
    """The calls of a module, each with the whole name of what is called; empty for what it did not import."""
    names = _imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node, _dotted(node.func, names)


def _imported(tree: ast.Module) -> dict[str, str]:
    """Names in the module and what they stand for: `{"Timer": "threading.Timer", "t": "time"}`."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                found[alias.asname or whole] = whole
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _dotted(node: ast.expr, names: Mapping[str, str]) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return ""
    return ".".join([names[node.id], *reversed(parts)])
