from django.apps import AppConfig


class ShopConfig(AppConfig):
    """The shop's commands."""

    name = "shop"
