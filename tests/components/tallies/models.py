from toa import Entity


class Tally(Entity):
    """A counter."""
