# SPDX-License-Identifier: Apache-2.0
"""The commands that storm.py disturbs, and their input files."""
import dataclasses

SWEEP = """schema = "foredraft.sweep/1"
[axes]
alpha = {alphas}
gamma = {gammas}
c = [0.05, 0.1]
[simulation]
iterations = {iterations}
seed = {seed}
path = "reference"
[[figure]]
id = "speedup"
x = "gamma"
y = "speedup"
series = "alpha"
panel = "c"
width = "single_column"
"""
# A server's line every ten seconds; the server of the second log does not speculate.
SPECULATION = ("INFO 11-23 10:{minute:02d}:00 [metrics.py:96] SpecDecoding metrics: Mean acceptance length: 2.{tenths}0, "
               "Accepted throughput: 40.00 tokens/s, Drafted throughput: 100.00 tokens/s, Accepted: 1{tenths}00 tokens, "
               "Drafted: 3000 tokens, Per-position acceptance rate: 0.700, 0.350, 0.{tenths}50, "
               "Avg Draft acceptance rate: 4{tenths}.0%\n")
INPUTS = {
    "server.log": "".join(SPECULATION.format(minute=minute, tenths=1 + minute % 3) for minute in range(20)),
    "other.log": "".join(SPECULATION.format(minute=minute, tenths=2) for minute in range(20)),
    "one.toml": SWEEP.format(alphas="[0.5, 0.6, 0.7, 0.8]", gammas="[1, 2, 3, 4, 5, 6]", iterations=8000, seed=1),
    "two.toml": SWEEP.format(alphas="[0.5, 0.6, 0.7, 0.8]", gammas="[1, 2, 3, 4, 5, 6]", iterations=8000, seed=2),
    # Its points are expected to be long but are short: few are written at a time, so that a kill can leave any number
    # of rows.
    "rows.toml": SWEEP.format(alphas="{ from = 0.01, to = 0.15, step = 0.01 }", gammas="[2_000, 8_000]",
                              iterations=2000, seed=1),
    "heads.txt": "0.6 0.2 0.1\n0.5 0.2\n0.4\n",
    "other_heads.txt": "0.7 0.1\n0.6 0.1\n",
    "speedups.csv": "target,draft,gamma,alpha,batch,context,speedup\n"
                    "llama-2-7b,sheared-llama-1.3b,3,0.7,1,512,1.5\nllama-2-7b,sheared-llama-1.3b,4,0.8,4,512,1.7\n",
}


@dataclasses.dataclass
class Case:
    """A command that writes the folder `out`."""

    name: str
    family: str  # cases of one family may run in one folder
    arguments: list
    draws: bool = False  # starts the scripts of `plots/` (of the stand-in)
    from_case: str = ""  # starts with the files of that case
    volatile: bool = False  # writes another profile every time: it must only be complete or absent
    resumes: bool = True  # if not, a second run exits with 2 and changes nothing
    codes: tuple = (0,)
    start: dict = dataclasses.field(default_factory=dict)  # name -> bytes, before
    wanted: dict = dataclasses.field(default_factory=dict)  # after
    manifest: dict = dataclasses.field(default_factory=dict)
    duration: float = 0.0
    code: int = 0
    stdout: bytes | None = b""  # None: differs from run to run
    states: dict = dataclasses.field(default_factory=dict)  # name -> (folder's files, calls of a run from there)

    @property
    def weight(self):
        """How often it is drawn: slow cases less often."""
        return 0.1 if self.draws or self.volatile else 1.0


def cases_of():
    sweep = ["--out", "out", "--no-figures"]
    tree = ["tree", "--nodes", "16", "--out", "out", "--accuracies"]
    predict = ["predict", "--profile", "h200", "--target", "llama-2-7b", "--draft", "sheared-llama-1.3b",
               "--batch", "1,4", "--out", "out", "--alpha"]
    reproduce = ["reproduce", "--out", "out", "--no-figures"]
    return [
        Case("sweep", "sweep", ["sweep", "../in/one.toml", *sweep]),
        Case("sweep of seed 2", "sweep", ["sweep", "../in/two.toml", *sweep]),
        Case("sweep row by row", "sweep", ["sweep", "../in/rows.toml", *sweep]),
        Case("merge", "sweep", ["merge", "../in/part2", "../in/part1", *sweep]),
        Case("tree", "tree", [*tree, "../in/heads.txt"]),
        Case("tree of other heads", "tree", [*tree, "../in/other_heads.txt"]),
        Case("predict", "predict", [*predict, "0.7"]),
        Case("predict of other alpha", "predict", [*predict, "0.8"]),
        Case("reproduce", "reproduce", [*reproduce, "leviathan-table1"]),
        Case("reproduce of seed 2", "reproduce", [*reproduce, "leviathan-table1", "--seed", "2"]),
        Case("reproduce of two", "reproduce", [*reproduce, "leviathan-table2", "wagner-table4"]),
        Case("validate", "validate", ["validate", "--profile", "h200", "--against", "../in/speedups.csv", *sweep],
             resumes=False),
        Case("calibrate", "calibrate", ["calibrate", "--out", "out/profile.json", "--target", "t5-small", "--draft",
                                        "t5-small", "--quick", "--minutes", "0.001", "--batch", "1", "--context", "0"],
             volatile=True, codes=(0, 1)),
        Case("import", "import", ["import", "../in/server.log", "--out", "out/observations.json"], volatile=True,
             resumes=False),
        Case("advise", "advise", ["advise", "../in/server.log", "--out", "out"], draws=True),
        Case("advise on another log", "advise", ["advise", "../in/other.log", "--out", "out"], draws=True),
        Case("sweep with figures", "figures", ["sweep", "../in/one.toml", "--out", "out"], draws=True),
        Case("merge with figures", "figures", ["merge", "../in/part1", "../in/part2", "--out", "out"], draws=True),
        Case("plot", "figures", ["plot", "out"], draws=True, from_case="sweep"),
        Case("tree with figures", "drawn tree", [*tree, "../in/heads.txt"], draws=True),
        Case("reproduce with figures", "drawn reproduce", ["reproduce", "--out", "out", "leviathan-figure2"],
             draws=True),
    ]
