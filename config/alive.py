"""`python -m config.alive beat|worker`: for containers, whether the one on this host does its work.

A process can live and do nothing: it lost the database, or it hangs. So its heartbeat is asked for, which it
writes into the database itself.
"""

import os
import socket
import sys

import django


def main(arguments: list[str]) -> int:
    """Exit status 0 if a process of the kind that is named beats on this host, else 1 and a sentence."""
    (kind,) = arguments
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.db import Error

    from toa.cadence.processes import alive

    host = socket.gethostname()
    try:
        if any(process.host == host for process in alive(kind)):
            return 0
    except Error as error:
        print(f"The database cannot be asked: {error}", file=sys.stderr)
        return 1
    print(f"No {kind} on {host} wrote a heartbeat within the last seconds.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
