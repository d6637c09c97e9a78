# SPDX-License-Identifier: Apache-2.0
"""plot.py and report.py as processes: hostile environments, signals at any moment, and streams that cannot be
written."""

import os
import signal
import subprocess
import sys
import time
import unittest

import sample_data
from support import PLOTS, InDirectory, start

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SCRIPTS = ("plot", "report")


class Process(InDirectory):
    def setUp(self):
        super().setUp()
        self.folder = self.directory / "out"
        self.folder.mkdir()
        sample_data.write_small_sweep(self.folder)
        sample_data.write_manifest(self.folder)

    def names(self):
        return sorted(os.listdir(self.folder))


class Surroundings(Process):
    def test_nothing_in_the_current_directory_and_the_environment_is_executed_or_read(self):
        names = ("matplotlib", "numpy", "json", "re", "PIL", "cycler", "csv", "load", "command", "html", "sitecustomize")
        for name in names:
            (self.directory / f"{name}.py").write_text(
                f"open({str(self.directory / 'executed')!r}, 'a').write({name!r})\n", encoding="utf-8")
        (self.directory / "matplotlibrc").write_bytes(b"font.size: \xff\n")  # reading it ends the import
        hostile = {"PYTHONPATH": str(self.directory), "PYTHONSTARTUP": "load.py", "MATPLOTLIBRC": str(self.directory),
                   "MPLBACKEND": "nonsense", "SOURCE_DATE_EPOCH": "nonsense", "NPY_PROMOTION_STATE": "nonsense",
                   "MPLCONFIGDIR": self.directory.name}
        for script in SCRIPTS:
            run = start(script, "out", cwd=self.directory, env={**os.environ, **hostile})
            self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertFalse((self.directory / "executed").exists())
        self.assertFalse(os.path.exists(os.path.join("/", self.directory.name)))
        self.assertLessEqual({"speedup.pdf", "speedup.svg", "speedup.png", "report.html"}, set(self.names()))

    def test_messages_name_files_as_the_user_typed_the_folder(self):
        (self.folder / "speedup.csv").unlink()
        run = start("plot", "out", cwd=self.directory)
        self.assertEqual((run.returncode, run.stderr), (1, "plot: out/speedup.csv: is missing\n"))

    def test_a_current_directory_that_is_gone_is_said(self):
        gone = self.directory / "gone"
        gone.mkdir()
        run = subprocess.run(["/bin/sh", "-c", f'cd {gone} && rmdir {gone} && exec "$@"', "sh", sys.executable, "-I",
                              str(PLOTS / "plot.py"), "out"], capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stderr),
                         (2, "out: the current directory cannot be used (No such file or directory)\n"))

    def test_no_bytecode_is_left_beside_the_scripts(self):
        # A cache file that is cut off by a full disk, which Python then loads.
        copy = self.directory / "plots"
        copy.mkdir()
        for path in PLOTS.glob("*.py"):
            (copy / path.name).write_bytes(path.read_bytes())
        subprocess.run([sys.executable, "-I", str(copy / "plot.py"), str(self.folder)], check=True, capture_output=True)
        self.assertFalse((copy / "__pycache__").exists())


class Signals(Process):
    def begin(self, script, before=lambda: None):
        """Starts a script with the signals as a terminal sets them, changed only by `before` in the child."""
        def prepare():
            for number in SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            before()

        return subprocess.Popen([sys.executable, "-I", str(PLOTS / f"{script}.py"), str(self.folder)], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=prepare)

    def ended(self, process, statuses=(130,)):
        """Checks how a script ended after a signal; returns its stdout."""
        out, err = process.communicate(timeout=120)
        self.assertIn(process.returncode, statuses, err)
        self.assertEqual(err, "")
        self.assertFalse([name for name in self.names() if name.startswith(".")])
        return out

    def test_a_signal_at_any_moment_ends_it_with_130_and_without_remains(self):
        ends = set()
        for script in SCRIPTS:
            for step in range(10):
                # Blocked as by the program: Python may take some time to reach the first line of the script.
                process = self.begin(script, lambda: signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS))
                time.sleep(0.08 * step)
                process.send_signal(SIGNALS[step % len(SIGNALS)])
                self.ended(process, (0, 130))
                ends.add(process.returncode)
                if process.returncode == 0:
                    break  # it has ended before any later moment
        self.assertIn(130, ends)

    def test_finished_figures_stay(self):
        for figure in "abcdef":
            sample_data.write_small_sweep(self.folder, figure)
        process = self.begin("plot")
        self.assertEqual(process.stdout.readline(), "a.{pdf,svg,png}\n")
        process.send_signal(signal.SIGTERM)
        self.ended(process)
        for kind, start_of_file in (("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG")):
            self.assertTrue((self.folder / f"a.{kind}").read_bytes().startswith(start_of_file))
        self.assertNotIn("f.pdf", self.names())

    def test_a_signal_between_writing_and_renaming_leaves_nothing(self):
        for number in SIGNALS:
            code = (f"import sys; sys.path.insert(0, {str(PLOTS.parent)!r})\n"
                    "import os\n"
                    "from plots import command\n"
                    "command.start()\n"
                    f"os.replace = lambda *_: (print(len(os.listdir({str(self.directory)!r}))),"
                    f" os.kill(os.getpid(), {int(number)}))\n"
                    f"command.write({str(self.directory / 'x.pdf')!r}, b'new')\n")
            before = os.listdir(self.directory)
            run = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
            self.assertEqual((run.returncode, run.stderr), (130, ""))
            self.assertEqual(os.listdir(self.directory), before)

    def test_a_signal_that_the_caller_ignores_stays_ignored(self):
        process = self.begin("report", lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        for _ in range(20):
            process.send_signal(signal.SIGHUP)
            time.sleep(0.02)
        self.assertEqual(self.ended(process, (0,)), "report.html\n")


class Streams(Process):
    def test_what_cannot_be_printed_is_dropped_and_everything_is_drawn(self):
        wanted = None
        for streams in ("", ">&-", "<&- >&- 2>&-", ">/dev/full 2>&1", "| :"):
            for path in self.folder.glob("*.[phs]*"):
                if path.suffix in (".pdf", ".svg", ".png", ".html"):
                    path.unlink()
            for script in SCRIPTS:
                line = f'{{ "$@" {streams.replace("| :", "")}; echo $? >&3; }} {"| :" if "|" in streams else ""}'
                run = subprocess.run(["/bin/bash", "-c", f"{{ {line} ; }} 3>&2 2>/dev/null", "bash", sys.executable, "-I",
                                      str(PLOTS / f"{script}.py"), str(self.folder)], text=True, capture_output=True,
                                     check=False)
                self.assertEqual(run.stderr, "0\n", streams)
            drawn = {path.name: path.read_bytes() for path in self.folder.iterdir()}
            wanted = wanted or drawn
            self.assertEqual(len(wanted), 7)
            self.assertEqual(drawn, wanted, streams)

    def test_no_file_becomes_a_closed_standard_stream(self):
        code = (f"import sys; sys.path.insert(0, {str(PLOTS.parent)!r})\n"
                "import os\n"
                "from plots import command\n"
                "command.start()\n"
                "command.finish(0 if all(os.readlink(f'/proc/self/fd/{n}') == '/dev/null' for n in range(3)) else 1)\n")
        run = subprocess.run(["/bin/sh", "-c", '"$@" <&- >&- 2>&-', "sh", sys.executable, "-I", "-c", code], check=False)
        self.assertEqual(run.returncode, 0)

    def test_a_problem_that_cannot_be_said_keeps_its_status(self):
        (self.folder / "speedup.csv").unlink()
        for streams in (">&- 2>&-", ">/dev/full 2>&1"):
            run = subprocess.run(["/bin/sh", "-c", f'"$@" {streams}', "sh", sys.executable, "-I",
                                  str(PLOTS / "plot.py"), str(self.folder)], check=False)
            self.assertEqual(run.returncode, 1)


if __name__ == "__main__":
    unittest.main()
