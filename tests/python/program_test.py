# SPDX-License-Identifier: Apache-2.0
"""Python gives the program's answers, with the same numbers and the same bytes."""

import contextlib
import html
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import pandas as pd

import foredraft as fd

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / "docs" / "examples" / "advise"
PROGRAM = pathlib.Path(sys.executable).parent / "foredraft"
PAIR = dict(device="h100", target="llama-3.1-8b", draft="llama-3.2-1b")
MEASURED = ("target,draft,gamma,alpha,batch,context,speedup\n"
            "qwen1.5-7b,qwen1.5-0.5b,4,0.8,1,512,1.4\nqwen1.5-7b,qwen1.5-0.5b,2,0.6,8,512,1.1\n")


class InFolder(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.folder = pathlib.Path(folder.name)
        for log in LOGS.glob("*.log"):
            shutil.copy(log, ".")

    def program(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout


class Pages(InFolder):

    def test_the_page_of_the_package_is_the_programs(self):
        self.program("page", "--out", "written.html")
        written = pathlib.Path("written.html").read_bytes()
        self.assertEqual(written, (ROOT / "tests/app/page.html").read_bytes())  # that of this package
        page = fd.page(height=300)
        page.save("saved.html")
        self.assertEqual(pathlib.Path("saved.html").read_bytes(), written)
        frame = re.fullmatch('<iframe srcdoc="([^"]*)" (.*)></iframe>', page._repr_html_())
        self.assertEqual(html.unescape(frame[1]).encode(), written)
        self.assertIn('height="300"', frame[2])
        self.assertIn('sandbox="allow-scripts allow-downloads"', frame[2])


class Comparisons(InFolder):

    def test_a_comparison_is_the_programs_document(self):
        for require, code in (([], 0), (["acceptance_length>=2"], 1), (["acceptance_length>=0.5x", "tpot<=1.5x"], 0)):
            options = [part for one in require for part in ("--require", one)]
            with self.subTest(require):
                printed = self.program("compare", "k3.log", "k1.log", "--plain", "plain.log", *options, "--json", code=code)
                comparison = fd.compare("k3.log", "k1.log", plain="plain.log", require=require)
                self.assertEqual(comparison.to_dict(), json.loads(printed))
                self.assertEqual(comparison.passes, code == 0)
                self.assertEqual(len(comparison.verdicts), 2 * len(require))
        self.assertEqual(str(comparison), self.program("compare", "k3.log", "k1.log", "--plain", "plain.log", *options))
        comparison.to_dict()["runs"].clear()
        frame = comparison.to_frame()
        self.assertEqual(set(frame.log), {"A", "B"})
        self.assertTrue((frame.low <= frame.value).all() and (frame.value <= frame.high).all())
        apart = comparison.differences()
        self.assertEqual(len(apart), sum(len(pair["metrics"]) for pair in comparison.document["comparisons"]))
        self.assertTrue((apart.difference_low <= apart.difference).all())

    def test_logs_and_prices(self):
        log, plain = fd.read_log("k3.log"), fd.read_log("plain.log")
        self.assertEqual(fd.compare(log, plain=plain), fd.compare("k3.log", plain="plain.log"))
        printed = self.program("compare", "k3.log", "--gpu-hour-price", "2.5", "--gpus", "8", "--json")
        self.assertEqual(fd.compare(log, gpu_hour_price=2.5, gpus=8).document, json.loads(printed))
        with self.assertRaisesRegex(ValueError, "a: has 2 files"):
            fd.compare(fd.read_log("k3.log", "k1.log"))

    def test_a_baseline_is_stored_once_and_compared_with(self):
        missed = fd.compare("k3.log", save_baseline="missed.json", require="acceptance_length>=9")
        self.assertFalse(missed.passes)
        self.assertFalse(os.path.exists("missed.json"))
        self.assertTrue(fd.compare("k3.log", save_baseline=self.folder / "ours.json").passes)
        self.program("compare", "k3.log", "--save-baseline", "theirs.json")
        self.assertEqual(pathlib.Path("ours.json").read_bytes(), pathlib.Path("theirs.json").read_bytes())
        printed = self.program("compare", "k1.log", "--baseline", "ours.json", "--json")
        self.assertEqual(fd.compare("k1.log", baseline="ours.json").document, json.loads(printed))
        with self.assertRaisesRegex(ValueError, "ours.json: exists .* use another save_baseline"):
            fd.compare("k3.log", save_baseline="ours.json")

    def test_mistakes_are_named_as_keywords(self):
        with self.assertRaises(ValueError) as raised:
            fd.compare("k3.log", "k1.log", require=["speed>", "tpot<=1"], baseline="b.json", gpus=0, save_baseline="c.json")
        text = str(raised.exception)
        for part in ("compare: require: ", "compare: gpus: ", "compare: baseline: ", "compare: save_baseline: "):
            self.assertIn(part, text)
        self.assertNotIn("--", text.replace(" - ", " "))
        with self.assertRaisesRegex(ValueError, "it needs B"):
            fd.compare("k3.log", require="tpot<=1.02x")

    def test_observations_are_saved_as_the_program_writes_them(self):
        log = fd.read_log("k3.log", "plain.log")
        log.save(self.folder / "ours.json")
        self.program("import", "k3.log", "plain.log", "--out", "theirs.json")
        self.assertEqual(pathlib.Path("ours.json").read_bytes(), pathlib.Path("theirs.json").read_bytes())
        self.assertEqual(fd.read_log("ours.json").to_frame().drop(columns="file").shape, log.to_frame().drop(columns="file").shape)
        with self.assertRaisesRegex(ValueError, "use another path"):
            log.save("ours.json")
        with self.assertRaisesRegex(ValueError, "did you mean observations"):
            log.save("new", "observation")
        with self.assertRaisesRegex(ValueError, "k3.log: no histogram"):
            log.save("new", "speculation-profile")


class Folders(InFolder):

    AXES = dict(alpha=[0.5, 0.7, 0.9], gamma=[1, 3], c=0.05, iterations=1000)

    def test_shards_are_run_merged_and_checked(self):
        fd.sweep(**self.AXES, out="whole", progress=False)
        for i in (1, 2, 3):
            part = fd.sweep(**self.AXES, shard=(i, 3), out=f"part{i}", progress=False)
            self.assertEqual(len(part), 2)
        frame = fd.merge((self.folder / f"part{i}" for i in (3, 1, 2)), out=self.folder / "merged")
        self.assertEqual(pathlib.Path("merged/points.csv").read_bytes(), pathlib.Path("whole/points.csv").read_bytes())
        self.assertEqual((len(frame), frame.attrs["folder"]), (6, str(self.folder / "merged")))
        run = fd.check("merged", threads=1, progress=False)
        self.assertEqual((run.points, run.version), (6, fd.__version__))
        self.assertEqual(fd.check("part2", progress=False).points, 2)
        self.assertIn(run.config[:8], self.program("check", "merged"))
        with self.assertRaisesRegex(ValueError, "part2|shard"):
            fd.merge(["part1", "part3"], out="other")
        for bad in (dict(shard=(4, 3), out="x"), dict(shard=(1, 7), out="x")):
            with self.assertRaises(ValueError):
                fd.sweep(**self.AXES, progress=False, **bad)
        with self.assertRaises(TypeError):
            fd.sweep(**self.AXES, shard=(1, 3), progress=False)

    def test_a_folder_that_was_changed_is_told(self):
        fd.sweep(**self.AXES, out="whole", progress=False)
        points = pathlib.Path("whole/points.csv")
        points.write_text(points.read_text(encoding="utf-8").replace("0.7,", "0.70,", 1), encoding="utf-8")
        with self.assertRaisesRegex(RuntimeError, "points.csv"):
            fd.check("whole", progress=False)
        with self.assertRaises(ValueError):
            fd.check("nowhere", progress=False)

    def test_progress_is_shown_and_may_end_the_work(self):
        fd.sweep(**self.AXES, out="whole", progress=False)
        shown = []
        fd._core.repeat_folder("whole", 1, lambda finished, total: shown.append((finished, total)))
        self.assertEqual(shown[-1][1], 6)
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(fd.check("whole").points, 6)


class Papers(InFolder):

    def test_experiments_leave_what_the_program_does(self):
        names = ["leviathan-table2", "leviathan-table1"]
        study = fd.reproduce(*names, out="ours", progress=False)
        printed = self.program("reproduce", *names, "--out", "theirs", "--no-figures")
        self.assertEqual(list(study.texts), sorted(names))
        for name, text in study.texts.items():
            self.assertIn(f"{name:<18} {text}", printed)
        theirs = {path.name: path.read_text(encoding="utf-8") for path in pathlib.Path("theirs").iterdir()}
        manifest = json.loads(theirs.pop("manifest.json"))
        self.assertEqual(study.files | {"scorecard.csv": study.scorecard}, theirs)
        self.assertEqual({path.name: path.read_text(encoding="utf-8") for path in pathlib.Path("ours").iterdir()
                          if path.name != "manifest.json"}, theirs)
        ours = json.loads(pathlib.Path("ours/manifest.json").read_text(encoding="utf-8"))
        self.assertEqual((ours["state"], ours["experiments"], ours["outputs"]),
                         ("complete", manifest["experiments"], manifest["outputs"]))
        self.assertIn(study.summary, printed)
        self.assertTrue(study.agrees)
        self.assertEqual(len(study.to_frame()), study.scorecard.count("\n") - 1)
        self.assertIn("alpha", study.tables["leviathan-table1"])
        self.assertEqual(fd.reproduce("leviathan-table1", progress=False).to_frame().experiment.unique().tolist(),
                         ["leviathan-table1"])

    def test_unknown_experiments(self):
        with self.assertRaisesRegex(ValueError, "leviathan-tabel1: unknown experiment"):
            fd.reproduce("leviathan-tabel1", out="ours", progress=False)
        self.assertFalse(os.path.exists("ours"))

    def test_validation_beside_an_engine(self):
        pathlib.Path("speedups.csv").write_text(MEASURED, encoding="utf-8")
        validation = fd.validate("h200", against="speedups.csv", out="ours")
        printed = self.program("validate", "--profile", "h200", "--against", "speedups.csv", "--out", "theirs", "--no-figures")
        self.assertEqual(str(validation), printed)
        for name in ("validation.csv", "prediction.csv"):
            self.assertEqual((self.folder / "ours" / name).read_bytes(), (self.folder / "theirs" / name).read_bytes())
        self.assertEqual(validation.csv, (self.folder / "ours" / "validation.csv").read_text(encoding="utf-8"))
        frame = validation.to_frame()
        error = (frame.predicted_speedup / frame.measured_speedup - 1).abs()
        self.assertAlmostEqual(validation.worst_error, error.max(), delta=1e-12)
        self.assertAlmostEqual(validation.median_error, error.median(), delta=1e-12)
        columns = pd.read_csv("speedups.csv")
        for against in (columns, columns.to_dict("list"), {name: columns[name].to_numpy() for name in columns}):
            self.assertEqual(fd.validate(fd.Profile("h200"), against=against), validation)
        self.assertEqual(fd.validate(fd.Device("h200"), against=columns).csv, validation.csv)
        vectors = columns.drop(columns="alpha").assign(conditional=[[0.8, 0.8, 0.8, 0.8], [0.6, 0.6]])
        np.testing.assert_allclose(fd.validate("h200", against=vectors).to_frame().predicted_speedup,
                                   frame.predicted_speedup, rtol=1e-9)
        with self.assertRaisesRegex(ValueError, "against:3: batch"):
            fd.validate("h200", against=columns.assign(batch=[1, 0]))
        with self.assertRaisesRegex(ValueError, "is there and not empty"):
            fd.validate("h200", against=columns, out="ours")


class Predictions(InFolder):

    def test_times_of_a_device(self):
        answer = fd.predict_times(**PAIR, alpha=0.75, batch=[1, 8], context=np.array([512, 4096]))
        printed = self.program("predict", *(f"--{name}={value}" for name, value in PAIR.items()), "--alpha", "0.75",
                               "--batch", "1,8", "--context", "512,4096", "--json")
        self.assertEqual(answer.to_dict(), json.loads(printed))
        frame = answer.to_frame()
        self.assertEqual(sorted(set(zip(frame.batch, frame.context))), [(1, 512), (1, 4096), (8, 512), (8, 4096)])
        best = frame[(frame.batch == 1) & (frame.context == 512)].speedup.max()
        self.assertAlmostEqual(answer.best_speedup, best, delta=1e-12)
        with self.assertRaises(ValueError) as raised:
            fd.predict_times(target="llama-3.1-8b", alpha=1.5, prompt=3)
        for part in ("device: missing", "draft: missing", "alpha: ", "prompt: given without a load"):
            self.assertIn(f"predict: {part}", str(raised.exception))

    def test_what_does_not_fit_has_no_best_draft_length(self):
        answer = fd.predict_times(device="rtx4090", target="llama-3.1-70b", draft="llama-3.2-1b", alpha=0.7)
        self.assertEqual(repr(answer), "TimesPrediction(best_gamma=None, best_speedup=None)")

    def test_measured_numbers_are_explained(self):
        for keywords, options in ((dict(measured_speedup=1.8, c=0.05), ["--measured-speedup", "1.8", "--c", "0.05"]),
                                  (dict(measured_speedup="1.80", alpha=0.7), ["--measured-speedup", "1.80", "--alpha", "0.7"]),
                                  (dict(acceptance_length=3.2), ["--acceptance-length", "3.2"])):
            with self.subTest(keywords):
                answer = fd.explain(**keywords, gamma=5)
                self.assertEqual(answer.document, json.loads(self.program("predict", *options, "--gamma", "5", "--json")))
                self.assertTrue(answer.interval[0] <= answer.value <= answer.interval[1])
        self.assertIsNone(fd.explain(measured_speedup=50, gamma=2, c=0.05).value)
        with self.assertRaisesRegex(ValueError, "gamma: missing"):
            fd.explain(measured_speedup=2, c=0.1)
        with self.assertRaisesRegex(ValueError, "measured_speedup: missing"):
            fd.explain(gamma=2)

    def test_catalogs_hold_what_the_program_lists(self):
        for name in ("drafters", "rules", "policies", "processes", "costs", "models", "devices", "engines", "experiments",
                     "formats", "parameters", "metrics"):
            listed = json.loads(self.program("list", name, "--json"))[name]
            self.assertEqual(fd.catalog(name).name.to_list(), [entry["name"] for entry in listed])
        self.assertGreater(len(fd.catalog("profiles")), 0)
        self.assertGreater(len(fd.catalog("pairs")), 0)
        with self.assertRaisesRegex(ValueError, "foredraft.catalog: rule: unknown list - did you mean rules"):
            fd.catalog("rule")


if __name__ == "__main__":
    unittest.main()
