# SPDX-License-Identifier: Apache-2.0
"""What the validation with vLLM on a CPU measures: settings of the engine, loads and requests."""

import dataclasses

LOADS = (1, 2, 4, 8)
GAMMAS = (1, 3, 5)
LOOKUP_GAMMA = 3
ROUNDS = 4
CALIBRATION_LOADS = (1, 8)
MIDDLE_LOAD = 4  # at which only plain decoding is calibrated, as its time is not linear between the other two
CALIBRATION_GAMMA = 3
CALIBRATION_ROUNDS = 2
PROMPT, OUTPUT = 24, 96  # tokens of a request
LONGEST = 1024  # tokens of a pass
REQUESTS = {1: 16, 2: 24, 4: 36, 8: 56}  # of a cell, by load: 10 to 25 s on a quiet machine
REPEATING_TOKENS = list(range(300, 348))  # the only tokens that n-gram texts may use, so that they repeat
MAX_USED = 0.5  # processors that other programs may use before anything is measured
MAX_OTHERS = 0.25  # processors that other programs took during a cell; one such cell is measured once more
QUIET = 0.08  # a cell is judged if its rounds differ by less
# The parts of a prediction to remove for each term, by name.
TERMS = ("growth", "first_pass", "in_loop", "host", "prompts")


def drafting(gamma):
    return {"method": "draft_model", "model": "draft", "num_speculative_tokens": gamma}


@dataclasses.dataclass(frozen=True)
class Arm:
    """One setting of the engine; arms without speculation and those that repeat their texts share servers."""

    server: str
    model: str = "target"
    speculation: dict | None = None
    repeating: bool = False


ARMS = {"plain": Arm("plain"), "alone": Arm("alone", "draft"),
        **{f"d{gamma}": Arm(f"d{gamma}", speculation=drafting(gamma)) for gamma in (*GAMMAS, 2)},
        "plainrep": Arm("plain", repeating=True),
        "ng3": Arm("ng3", repeating=True, speculation={"method": "ngram", "num_speculative_tokens": LOOKUP_GAMMA,
                                                       "prompt_lookup_max": 3, "prompt_lookup_min": 2}),
        "eagle": Arm("eagle", speculation={"method": "eagle", "model": "eagle", "num_speculative_tokens": 3}),
        "dynamic": Arm("dynamic", speculation=drafting(3) | {
            "num_speculative_tokens_per_batch_size": [[1, 3, 3], [4, 8, 1]]})}
CALIBRATION_ARMS = ("plain", "alone", f"d{CALIBRATION_GAMMA}", "plainrep", "ng3")
LOGGED_ARMS = ("eagle", "dynamic")
CELL_ARMS = ("plain", *(f"d{gamma}" for gamma in GAMMAS), "plainrep", "ng3")
PORTS = {name: 8101 + i for i, name in enumerate(dict.fromkeys(arm.server for arm in ARMS.values()))}


def plain_arm(arm):
    return "plainrep" if ARMS[arm].repeating else "plain"


def speculative(arms):
    return [arm for arm in arms if ARMS[arm].speculation]


def in_turn(arms, loads, rounds):
    """(round, load, arm) in the order of measuring: the arms of a load one after the other, in reverse in every second
    round."""
    return [(round_, load, arm) for round_ in range(1, rounds + 1) for load in loads
            for arm in (arms if round_ % 2 else arms[::-1])]
