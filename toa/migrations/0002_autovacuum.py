from django.db import migrations

_TABLES = ("toa_delay", "toa_delivery", "toa_scheduledcall")


class Migration(migrations.Migration):
    """Live rows come and go all the time: dead ones are cleared by their number, not by a share of the table."""

    dependencies = [("toa", "0001_initial")]

    operations = [
        migrations.RunSQL(
            [
                f"ALTER TABLE {table} SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,"
                " autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0)"
                for table in _TABLES
            ],
            [
                f"ALTER TABLE {table} RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold,"
                " autovacuum_vacuum_insert_scale_factor, autovacuum_vacuum_cost_delay)"
                for table in _TABLES
            ],
        ),
    ]
