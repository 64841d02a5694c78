"""The doors to graphpriv: the command line and the service."""
