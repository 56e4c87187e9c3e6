#!/usr/bin/env python
"""Django's command line for the project."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line

    from config.servers import ServerProblem

    try:
        execute_from_command_line(sys.argv)
    except ServerProblem as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
