from toa import Entity


class Claim(Entity):
    """A process with deadlines; its id is that of a tally."""
