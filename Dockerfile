# The project as it runs in production: web, workers and beat are the same image with different commands.

FROM python:3.13-slim AS packages
COPY requirements/run.txt /requirements.txt
RUN python -m venv /packages \
    && /packages/bin/pip install --no-cache-dir --disable-pip-version-check -r /requirements.txt

FROM python:3.13-slim
RUN useradd --system --no-create-home --shell /usr/sbin/nologin app
COPY --from=packages /packages /packages
WORKDIR /project
COPY . .
ENV PATH=/packages/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    DJANGO_DEBUG=0
# Collecting files needs the settings to be complete, and connects to nothing.
RUN DJANGO_SECRET_KEY=unused DATABASE_URL=postgresql://unused/unused REDIS_URL=redis://unused/0 \
    python manage.py collectstatic --noinput \
    && python -m compileall -q .
USER app
EXPOSE 8000
CMD ["gunicorn", "config.wsgi", "--bind=0.0.0.0:8000", "--workers=2", "--threads=4", "--access-logfile=-"]
