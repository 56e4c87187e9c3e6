from django.core.mail import EmailMessage

from loyalty.letters import LETTERS
from loyalty.types import EffectContext, WriteInput
from toa import Error


def effect(input: WriteInput, context: EffectContext) -> Error | None:
    """Send a letter by the project's mail. After a crash it may go out again: under the same Message-ID, by which a
    mailbox knows it."""
    member = context.local.observe(query={"id": input.customer})
    if member is None or member.email is None:
        return Error("NO_ADDRESS")
    subject, text = LETTERS[input.letter]
    message = EmailMessage(subject, text, to=[member.email], headers={"Message-ID": f"<{context.key}@loyalty.shop>"})
    message.send()
    return None
