from typing import Literal

from django.db.models import Q

from loyalty.types import WelcomeInput, WelcomeOutput, WorkflowContext
from toa import time

LETTERS: tuple[tuple[Literal["welcome", "deliveries", "points"], str], ...] = (
    ("welcome", "0s"),
    ("deliveries", "4d"),
    ("points", "10d"),
)
"""What is written, and how long after the letter before it."""


async def workflow(input: WelcomeInput, context: WorkflowContext) -> WelcomeOutput:
    """Write the letters one after another, until there is none left or the customer has ordered something."""
    sent = 0
    for letter, pause in LETTERS:
        await time.sleep(pause)
        if await _has_ordered(input.customer, context):
            return {"sent": sent, "ordered": True}
        await context.local.write({"customer": input.customer, "letter": letter})
        sent += 1
    return {"sent": sent, "ordered": False}


async def _has_ordered(customer: str, context: WorkflowContext) -> bool:
    query = {"criteria": Q(customer=customer), "limit": 1, "projection": "status"}
    return bool(await context.remote.store.orders.enumerate(query=query))
