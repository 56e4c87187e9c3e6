from toa import ComponentConfig


class HazardsConfig(ComponentConfig):
    """components.hazards"""
