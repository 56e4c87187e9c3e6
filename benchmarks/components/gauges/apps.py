from toa import ComponentConfig


class GaugesConfig(ComponentConfig):
    """components.gauges"""
