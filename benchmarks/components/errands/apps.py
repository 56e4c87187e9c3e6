from toa import ComponentConfig


class ErrandsConfig(ComponentConfig):
    """components.errands"""
