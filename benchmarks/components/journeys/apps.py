from toa import ComponentConfig


class JourneysConfig(ComponentConfig):
    """components.journeys"""
