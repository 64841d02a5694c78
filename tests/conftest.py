"""What all tests share."""

from hypothesis import settings

# The first example of a test may compile a kernel; speed is measured in `benchmarks/`, not here.
settings.register_profile("graphpriv", deadline=None)
settings.load_profile("graphpriv")
