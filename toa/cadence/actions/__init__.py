"""What a person does about work on the clock: each action under its permission, and told in the log."""
