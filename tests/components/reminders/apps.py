from toa import ComponentConfig


class RemindersConfig(ComponentConfig):
    """components.reminders"""
