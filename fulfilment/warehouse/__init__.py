"""The warehouse's own system, spoken to over HTTP: it has no rows here, and is believed in nothing unchecked."""
