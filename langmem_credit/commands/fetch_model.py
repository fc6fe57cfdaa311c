"""`fetch-model`: puts the local model's weights into the Hugging Face cache.

Nothing else in this package fetches anything, unless a host's code asks for it.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any


def add_parser(commands: Any) -> None:
    """Adds the command to the parser's commands."""
    parser = commands.add_parser(
        "fetch-model",
        help="fetch the local model, for recall by meaning",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Fetches the model where it is not there yet; 1 when it cannot be had."""
    from langmem_credit.errors import MissingExtraError, MissingModelError
    from langmem_credit.local_model import MODEL, check_model, fetch_model, find_model

    try:
        folder = find_model()
        if folder is not None:
            check_model(folder)
            sys.stdout.write(f"{MODEL} is there already: {folder}\n")
            return 0
        sys.stdout.write(f"Fetching {MODEL} (about 90 MB) ...\n")
        sys.stdout.flush()
        sys.stdout.write(f"{MODEL} is in {fetch_model()}\n")
    except (MissingExtraError, MissingModelError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0
