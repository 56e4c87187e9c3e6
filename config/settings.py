"""Settings of the project: development in a checkout by default, production by the environment.

| variable | meaning | default |
|---|---|---|
| `DATABASE_URL` | the PostgreSQL database | the checkout's own server |
| `REDIS_URL` | the broker | the checkout's own server |
| `DJANGO_DEBUG` | `1` or `0` | `1` |
| `DJANGO_SECRET_KEY` | required where DEBUG is off | one made for the checkout |
| `DJANGO_ALLOWED_HOSTS` | names, by commas; required where DEBUG is off | |
| `DJANGO_CSRF_TRUSTED_ORIGINS` | origins with their scheme, by commas | |
| `DJANGO_HTTPS` | whether people come by https alone | `1` where DEBUG is off |
| `DJANGO_LOG_LEVEL` | | `INFO` |
| `BROKER_PREFIX` | before each name in the broker, where several projects share it | |
| `EMAIL_HOST` | where mail is handed in, at port 25 | shown on the terminal |
| `TOA_SHOP_EXPIRY`, `TOA_SHOP_WINDOW`, `TOA_SHOP_SWEEP`, … | see `shop.environment` | |
"""

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config import servers
from config.addresses import database_settings
from shop.environment import toa_settings

BASE_DIR = Path(__file__).resolve().parent.parent


def switch(name: str, default: bool) -> bool:
    """The variable `name`, which is `1` or `0`."""
    value = os.environ.get(name) or str(int(default))
    if value not in {"0", "1"}:
        raise ImproperlyConfigured(f"{name} should be 1 or 0, not {value!r}.")
    return value == "1"


def listed(name: str) -> list[str]:
    """The variable `name`, a list by commas."""
    return [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]


DEBUG = switch("DJANGO_DEBUG", default=True)

SECRET_KEY = os.environ.get("DJANGO_SECRET_KEY", "")
if not SECRET_KEY:
    if not DEBUG:
        raise ImproperlyConfigured("Set DJANGO_SECRET_KEY: DEBUG is off.")
    SECRET_KEY = servers.development_secret()

ALLOWED_HOSTS = listed("DJANGO_ALLOWED_HOSTS")
CSRF_TRUSTED_ORIGINS = listed("DJANGO_CSRF_TRUSTED_ORIGINS")

HTTPS = switch("DJANGO_HTTPS", default=not DEBUG)
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = HTTPS
# Load balancers ask from inside.
SECURE_REDIRECT_EXEMPT = [r"^alive/$"]
SECURE_HSTS_SECONDS = 30 * 24 * 3600 if HTTPS else 0
# The proxy in front says by this header how people came.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None

COMPONENTS = [
    "store.orders",
    "store.lifecycle",
    "store.payments",
    "store.vouchers",
    "store.reports",
    "fulfilment.rounds",
    "fulfilment.stock",
    "fulfilment.warehouse",
    "fulfilment.courier",
    "loyalty",
]

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "django_celery_beat",
    "drf_spectacular",
    "rest_framework",
    "config",
    "shop",
    "toa",
    *COMPONENTS,
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
ASGI_APPLICATION = "config.asgi.application"

DATABASES = {
    "default": database_settings(servers.database_url())
    | {
        "CONN_MAX_AGE": 60,
        # A connection that the server ended meanwhile is opened anew, not handed to a request.
        "CONN_HEALTH_CHECKS": True,
        "TEST": {"NAME": "test_toa"},
    },
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

LANGUAGE_CODE = "en"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
# In development the files are found where the apps keep them; an image collects them when it is built.
STATIC_ROOT = None if DEBUG else BASE_DIR / "staticfiles"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage",
    },
}

# Mail to members goes to the terminal where no server is named.
EMAIL_HOST = os.environ.get("EMAIL_HOST", "")
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'console'}.EmailBackend"
EMAIL_TIMEOUT = 10

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "{asctime} {levelname:<7} {name}: {message}", "style": "{"},
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line"},
    },
    "root": {"handlers": ["stderr"], "level": os.environ.get("DJANGO_LOG_LEVEL", "INFO")},
    "loggers": {
        # Django's own handlers would write each line a second time.
        "django": {"handlers": [], "propagate": True},
        "django.server": {"handlers": [], "propagate": True},
        # A line for each request is the other side's to write.
        "httpx": {"level": "WARNING"},
    },
}

REST_FRAMEWORK = {
    # The one that can ask for a name and a password comes first, so that 401 says how to log in.
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.BasicAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}
SPECTACULAR_SETTINGS = {
    "OAS_VERSION": "3.1.1",
    "TITLE": "The shop",
    "VERSION": "0.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    # Schemas stay as the manifests have them.
    "POSTPROCESSING_HOOKS": [],
}

CELERY_BROKER_URL = servers.broker_url()
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# How long the broker waits for the acknowledgement of a message before it hands it to another worker.
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600, "global_keyprefix": os.environ.get("BROKER_PREFIX", "")}
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_SERIALIZER = "json"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_DEFAULT_QUEUE = "celery"
CELERY_TASK_ROUTES = {
    "toa.tick": {"queue": "toa"},
    "toa.call": {"queue": "toa.calls"},
}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# What runs while the broker is away goes on: its message is only a hint.
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_BEAT_SCHEDULER = "toa.beat:CadenceScheduler"
CELERY_TIMEZONE = "UTC"
CELERY_ENABLE_UTC = True

# Customers are known by the name they log in with.
TOA = toa_settings(os.environ) | {"REST": {"OWNER": "username"}}
