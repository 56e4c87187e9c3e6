"""`python -m toa check PATH` and `python -m toa schema`: no project and no Django needed."""

from toa.manifests.command import main

if __name__ == "__main__":
    raise SystemExit(main())
