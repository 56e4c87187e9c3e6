from toa import Entity


class Meter(Entity):
    """A process with a number for its id."""
