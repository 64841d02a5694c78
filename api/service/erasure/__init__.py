"""What the service lets go of when a person is forgotten or a table or graph is deleted."""
