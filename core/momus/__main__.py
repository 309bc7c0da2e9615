"""``python -m momus``."""

from momus.cli import main

if __name__ == "__main__":
    main()
