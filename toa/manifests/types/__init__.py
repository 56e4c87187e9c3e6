"""Types for editors and type checkers, written from the specs of a component."""
