from toa import Entity


class Beacon(Entity):
    """Something that lapses."""
