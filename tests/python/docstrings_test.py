# SPDX-License-Identifier: Apache-2.0
"""The examples in docstrings print what they show, and every public function and class has one."""

import doctest
import importlib
import inspect
import os
import pathlib
import pkgutil
import shutil
import tempfile
import unittest

import numpy as np

import foredraft as fd

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / "docs" / "examples" / "advise"
DATA = {"best", "plot", "Rule"}  # names of no function and no class


def modules():
    names = [f"foredraft.{module.name}" for module in pkgutil.iter_modules(fd.__path__)]
    return [importlib.import_module(name) for name in ["foredraft", *names]]


class Docstrings(unittest.TestCase):

    def setUp(self):
        """In a temporary folder with the logs that examples name."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        for log in LOGS.glob("*.log"):
            shutil.copy(log, ".")

    def test_examples_print_what_they_show(self):
        finder = doctest.DocTestFinder()
        runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
        count = 0
        for module in modules():
            for test in finder.find(module, globs={"fd": fd, "np": np}):
                said = []
                count += runner.run(test, out=said.append).attempted
                self.assertEqual(said, [], f"{test.name}:\n{''.join(said)}")
        self.assertGreater(count, 60)

    def test_every_public_function_and_class_has_one(self):
        without = {name for name in fd.__all__ if ">>> " not in (inspect.getdoc(getattr(fd, name)) or "")}
        self.assertEqual(without, DATA)


if __name__ == "__main__":
    unittest.main()
