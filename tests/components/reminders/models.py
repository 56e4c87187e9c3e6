from toa import Entity


class Reminder(Entity):
    """Rings at the occurrences of its own calendar, in its own zone."""
