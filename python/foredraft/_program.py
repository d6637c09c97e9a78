# SPDX-License-Identifier: Apache-2.0
"""Entry point of the program foredraft when installed by pip."""

import os
import pathlib
import sys

from foredraft import _core


def main() -> int:
    """Runs the program with the arguments of this process and returns its exit code."""
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    package = pathlib.Path(__file__).resolve().parent
    os.environ.setdefault("FOREDRAFT_PLOTS", str(package / "_plots"))
    os.environ.setdefault("FOREDRAFT_OPERATORS", str(package / "share" / "operators"))
    return _core.run_program(sys.argv[1:])
