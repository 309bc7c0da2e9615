"""What tells two texts apart that nobody thought of: half of the prompts propose it, and the other half verifies it.

>>> from momus.discover import discover
"""

from momus.discover.discovering import Discoveries, discover
from momus.discover.verifying import Discovery

__all__ = ["Discoveries", "Discovery", "discover"]
