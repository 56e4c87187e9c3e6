"""A transition that does what no transition may."""

import socket

from tests.components.tallies.models import Tally


def transition(input, entry, context):
    match input.how:
        case "query":
            entry.count = Tally.objects.count()
        case "socket":
            with socket.socket() as link:
                link.connect(("127.0.0.1", 9))
        case _:
            entry.count += 1
