from toa import ComponentConfig


class CouriersConfig(ComponentConfig):
    """components.couriers"""
