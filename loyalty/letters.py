"""What members are written, as subject and text."""

from __future__ import annotations

LETTERS = {
    "welcome": (
        "Welcome",
        "You are a member now. Every order earns you points, one for each whole unit of money.",
    ),
    "deliveries": (
        "Three deliveries a month are free",
        "Your first three deliveries of a month cost you nothing, and that begins with the first.",
    ),
    "points": (
        "Silver begins at 500 points",
        "500 points make you a silver member, 2,000 a golden one. The first order counts.",
    ),
}
