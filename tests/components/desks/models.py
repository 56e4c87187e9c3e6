from toa import Entity


class Desk(Entity):
    """A desk and whoever keeps it."""
