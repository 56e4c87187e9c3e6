from toa import ComponentConfig


class TimersConfig(ComponentConfig):
    """components.timers"""
