"""Makes `python -m langmem_credit` the command line."""

import sys

from .commands import main

sys.exit(main())
