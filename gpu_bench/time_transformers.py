#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the speculative sampling of the transformers library itself, where it and a CUDA device are present.

Usage: time_transformers.py OUT.csv [--seconds S]

One call is one request, because the library verifies only batch 1. Wall time is the caller's, device time is between
two events around the call; both are medians with distribution-free 95 % intervals. Needs torch and transformers with
their own CUDA libraries. Without them it prints so, writes nothing and exits 0, because the rest of a run does not
depend on it.
"""
import argparse
import csv
import inspect
import math
import pathlib
import sys
import time

VOCABULARIES = (32_000, 128_256, 256_000)
GAMMAS = (1, 5, 20)
DTYPES = ("float16", "float32")
WARM_UP = 10
MIN_SAMPLES = 20
NAMES = {"float16": "fp16", "float32": "fp32"}
COLUMNS = ("vocabulary", "gamma", "dtype", "wall_median_us", "wall_ci95_low_us", "wall_ci95_high_us", "device_median_us",
           "device_ci95_low_us", "device_ci95_high_us", "samples", "torch", "transformers", "device")


def median_interval(values, level=0.95):
    """Median, and two order statistics that enclose it with at least this probability, for any distribution."""
    ordered = sorted(values)
    count = len(ordered)
    outside, low = 0.0, 0
    while low < count // 2:
        outside += math.comb(count, low) / 2**count
        if 2.0 * outside > 1.0 - level:
            break
        low += 1
    low = max(low - 1, 0)
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2.0
    return middle, ordered[low], ordered[count - 1 - low]


def arguments_for(function, torch, vocabulary, gamma, dtype):
    """Normal logits of standard deviation 3, drafts drawn from the drafter's own: many are accepted, some are not."""
    generator = torch.Generator(device="cuda").manual_seed(20240607)

    def logits(rows):
        return 3.0 * torch.randn(1, rows, vocabulary, device="cuda", generator=generator)

    draft = logits(gamma)
    target = torch.cat((draft + 0.3 * logits(gamma), logits(1)), dim=1)
    drafts = torch.multinomial(draft[0].softmax(dim=-1), 1, generator=generator).reshape(1, gamma)
    given = {"candidate_input_ids": drafts, "candidate_logits": draft.to(dtype), "candidate_length": gamma,
             "new_logits": target.to(dtype), "is_done_candidate": False, "last_assistant_token_is_eos": False,
             "max_matches": gamma}
    parameters = inspect.signature(function).parameters
    unknown = [name for name, of in parameters.items() if name not in given and of.default is of.empty]
    if unknown:
        sys.exit(f"the transformers library was not timed: its speculative sampling needs {', '.join(unknown)}")
    return {name: given[name] for name in parameters if name in given}  # the library's own values for what it added


def time_call(torch, call, seconds):
    """Wall and device microseconds of calls one after another."""
    for _ in range(WARM_UP):
        call()
    torch.cuda.synchronize()
    wall, device = [], []
    begin = time.perf_counter()
    while len(wall) < MIN_SAMPLES or time.perf_counter() - begin < seconds:
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start = time.perf_counter()
        first.record()
        call()
        last.record()
        torch.cuda.synchronize()
        wall.append(1e6 * (time.perf_counter() - start))
        device.append(1e3 * first.elapsed_time(last))
    return wall, device


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path, metavar="OUT.csv")
    parser.add_argument("--seconds", type=float, default=30.0, help="for all cells together (default: 30)")
    options = parser.parse_args()
    if options.out.exists():
        parser.error(f"{options.out}: exists - name another file")
    if not 0.0 < options.seconds < math.inf:
        parser.error(f"--seconds {options.seconds}: must be above 0")
    try:
        import torch
        import transformers
        from transformers.generation.utils import _speculative_sampling as sample
    except ImportError as missing:
        print(f"the transformers library was not timed: {missing}", file=sys.stderr)
        return 0
    if not torch.cuda.is_available():
        print("the transformers library was not timed: its torch sees no CUDA device", file=sys.stderr)
        return 0

    cells = [(vocabulary, gamma, dtype) for dtype in DTYPES for vocabulary in VOCABULARIES for gamma in GAMMAS]
    rows = []
    for vocabulary, gamma, dtype in cells:
        arguments = arguments_for(sample, torch, vocabulary, gamma, getattr(torch, dtype))
        with torch.inference_mode():
            wall, device = time_call(torch, lambda: sample(**arguments), options.seconds / len(cells))
        rows.append([vocabulary, gamma, NAMES[dtype], *(f"{us:.3f}" for us in median_interval(wall)),
                     *(f"{us:.3f}" for us in median_interval(device)), len(wall), torch.__version__,
                     transformers.__version__, torch.cuda.get_device_name()])
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    print(f"transformers {transformers.__version__}: {len(rows)} cells in {options.out}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
