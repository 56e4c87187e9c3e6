from toa import ComponentConfig


class DesksConfig(ComponentConfig):
    """components.desks"""
