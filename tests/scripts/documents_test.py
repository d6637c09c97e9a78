# SPDX-License-Identifier: Apache-2.0
"""scripts/documents.py on small pages: what it reports, accepts and writes."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import documents  # noqa: E402

# Prints its second argument as lines; --help names one option.
PROGRAM = """#!/bin/sh
case "$2" in
  --help) [ "$1" = say ] && echo "say WORDS [--loud X]" || exit 2 ;;
  fail) echo printed; echo "it failed" >&2; exit 1 ;;
  *) printf "$2" ;;
esac
"""


class Documents(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("docs/examples", "bin"):
            (self.root / name).mkdir(parents=True)
        (self.root / "docs" / "examples" / "own.log").write_text("of the example\n", encoding="utf-8")
        self.program = self.root / "bin" / "foredraft"
        self.program.write_text(PROGRAM, encoding="utf-8")
        self.program.chmod(0o755)
        patch = mock.patch.object(documents, "ROOT", self.root)
        patch.start()
        self.addCleanup(patch.stop)
        documents.options_of.cache_clear()

    def check(self, text, **how):
        (self.root / "PAGE.md").write_text(text, encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()):
            problems, ran, left = documents.check(self.program, chosen=["PAGE.md"], **how)
        return problems, (ran, left)

    def block(self, *lines, mark=None, language="console"):
        comment = f"<!-- {mark}: because -->\n" if mark else ""
        return "\n".join(["# Page", "", f"{comment}```{language}", *lines, "```", ""])

    def test_what_is_printed_as_shown_passes(self):
        self.assertEqual(self.check(self.block("$ foredraft say 'a 1.50\\nb\\n'", "a 1.50", "b", "$ cat own.log",
                                               "of the example", "$ build/release/foredraft say \\", "  x", "x")),
                         ([], (1, 0)))

    def test_one_digit_a_missing_line_or_one_too_many_is_noticed(self):
        for shown in (("a 1.51", "b"), ("a 1.50",), ("a 1.50", "b", "c"), ()):
            with self.subTest(shown):
                problems, _ = self.check(self.block("$ foredraft say 'a 1.50\\nb\\n'", *shown))
                self.assertEqual(len(problems), 1)
                self.assertIn("PAGE.md:3", problems[0])

    def test_a_failure_shows_standard_error_and_is_never_silent(self):
        self.assertEqual(self.check(self.block("$ foredraft say fail", "printed", "it failed"))[0], [])
        self.assertIn("+it failed", self.check(self.block("$ foredraft say fail", "printed"))[0][0])

    def test_dots_stand_for_any_number_of_lines_and_nothing_else(self):
        command = "$ foredraft say '1\\n2\\n3\\n4\\n'"
        for shown, fine in ((("1", "...", "4"), True), (("1", "2", "3", "4", "..."), True), (("...", "3", "..."), True),
                            (("1", "...", "5"), False), (("...", "2"), False), (("1", "...", "3"), False)):
            with self.subTest(shown):
                self.assertEqual(self.check(self.block(command, *shown))[0] == [], fine)

    def test_marked_blocks_run_when_asked_and_measured_ones_only_have_to_succeed(self):
        wrong = "$ foredraft say 'a\\n'", "b"
        for mark, slow, problems, counts in (
                ("slow", False, 0, (0, 1)), ("slow", True, 1, (1, 0)), ("measured", False, 0, (0, 1)),
                ("measured", True, 0, (1, 0)), ("not run", True, 0, (0, 1))):
            with self.subTest(mark=mark, slow=slow):
                found, ran = self.check(self.block(*wrong, mark=mark), slow=slow)
                self.assertEqual((len(found), ran), (problems, counts))
        self.assertEqual(len(self.check(self.block("$ foredraft say fail", mark="measured"), slow=True)[0]), 1)

    def test_a_block_that_reads_files_of_a_system_is_compared_only_there(self):
        page = self.block("$ foredraft say 'a\\n'", "b", mark="Debian 12")
        for there, problems, counts in ((True, 1, (1, 0)), (False, 0, (0, 1))):
            with self.subTest(there=there), mock.patch.object(documents, "ON_DEBIAN_12", there):
                found, ran = self.check(page)
                self.assertEqual((len(found), ran), (problems, counts))

    def test_options_commands_and_scripts_that_are_not_there_are_noticed_without_a_run(self):
        for command, problem in (("foredraft say x --loud 3", None), ("foredraft say x --quiet 3", "has no --quiet"),
                                 ("true && foredraft sing", "no command foredraft sing"),
                                 ("scripts/none.sh", "there is no scripts/none.sh"), ("foredraft --version", None)):
            with self.subTest(command):
                problems, _ = self.check(self.block("$ " + command, mark="not run"))
                self.assertEqual(len(problems), 0 if problem is None else 1)
                if problem is not None:
                    self.assertIn(problem, problems[0])

    def test_blocks_of_python_share_names_and_folder_with_the_console(self):
        page = (self.block("$ foredraft say 7 > seven") + self.block("number = int(__import__('pathlib').Path('seven').read_text())", language="python") +
                self.block("print(number + 1)", language="python") + "```text\n8\n```\n")
        self.assertEqual(self.check(page, python=True), ([], (3, 0)))
        self.assertIn("-9", self.check(page.replace("text\n8", "text\n9"), python=True)[0][0])
        self.assertIn("ZeroDivisionError", self.check(self.block("1 / 0", language="python"), python=True)[0][0])
        self.assertEqual(self.check(page)[1], (1, 0))

    def test_a_table_is_the_one_that_the_command_prints(self):
        page = "<!-- from: foredraft say 'a\\n|x|\\n|1|\\n' -->\n\n|x|\n|1|\n\ntext\n"
        self.assertEqual(self.check(page), ([], (1, 0)))
        for wrong in (page.replace("|1|\n\n", "|2|\n\n"), page.replace("|1|\n\n", "\n")):
            self.assertEqual(len(self.check(wrong)[0]), 1)
            self.check(wrong, update=True)
            self.assertEqual((self.root / "PAGE.md").read_text(encoding="utf-8").replace("\n\n\n", "\n\n"), page)

    def test_an_update_writes_what_was_printed_keeps_what_is_left_out_and_is_then_green(self):
        command = "$ foredraft say '1\\n2 b\\n3\\n4\\n5\\n'"
        before = self.block(command, "0", "...", "2 a", "...", "9") + "```python\nprint(2)\n```\n```text\n1\n```\n"
        self.assertEqual(self.check(before, python=True, update=True)[0], [])
        after = (self.root / "PAGE.md").read_text(encoding="utf-8")
        self.assertEqual(after, before.replace("\n0\n", "\n1\n").replace("2 a", "2 b").replace("\n9\n", "\n5\n").replace(
            "text\n1\n", "text\n2\n"))
        self.assertEqual(self.check(after, python=True), ([], (2, 0)))


if __name__ == "__main__":
    unittest.main()
