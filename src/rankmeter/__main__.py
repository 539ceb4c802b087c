"""``python -m rankmeter`` is the command ``rankmeter``."""

import sys

from rankmeter.cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
