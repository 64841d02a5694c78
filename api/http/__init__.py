"""The service over HTTP: routes, and what all answers share."""
