"""What the service knows and keeps, without HTTP."""
