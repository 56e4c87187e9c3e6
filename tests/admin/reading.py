"""Pages of the admin as a person reads them."""

from __future__ import annotations

import html
import re
from typing import Any


def text_of(response: Any) -> str:
    """The words of a page in one line, without its markup."""
    body = re.sub(r"<(script|style).*?</\1>", "", response.content.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())
