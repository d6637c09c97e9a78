# SPDX-License-Identifier: Apache-2.0
"""Entry point of the program foredraft when installed by pip."""

import os
import pathlib
import sys

from foredraft import _core


def main() -> int:
    """Runs the program with the arguments of this process and returns its exit code."""
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    share = pathlib.Path(__file__).resolve().parent / "share"
    os.environ.setdefault("FOREDRAFT_PLOTS", str(share / "plots"))
    os.environ.setdefault("FOREDRAFT_OPERATORS", str(share / "operators"))
    return _core.run_program(sys.argv[1:])
