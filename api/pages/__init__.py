"""The pages of the service: what it does, for people with a browser."""
