"""Names the files of tests, and enters the verbs of tests where workers import it."""

import sys

from api.jobs.folders import tables_of_home
from tests.api.jobs import samples

# pytest imports every module to look for doctests, and its verbs are those of the product.
if "pytest" not in sys.modules:
    samples.enter()

__all__ = ["tables_of_home"]
