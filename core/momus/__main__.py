"""``python -m momus``."""

import os
import sys

# Python puts the working folder first on the path, where a file such as pickle.py would be run in place of Python's own
if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

from momus.cli import main

if __name__ == "__main__":
    main()
