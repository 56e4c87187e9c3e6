from toa.apps import ComponentConfig


class LoyaltyConfig(ComponentConfig):
    verbose_name = "loyalty"
