from toa import Entity


class Almanac(Entity):
    """Something that the calendar touches."""
