# SPDX-License-Identifier: Apache-2.0
"""The papers whose tables and figures are reproduced, by the first word of an experiment's id."""

# Name, title. Other experiments come last, under a separate heading.
PAPERS = {
    "leviathan": ("Leviathan et al. 2023", "Fast Inference from Transformers via Speculative Decoding"),
    "emnlp": ("Xia et al. 2023, EMNLP",
              "Speculative Decoding: Exploiting Speculative Execution for Accelerating Seq2seq Generation"),
    "iclr": ("Xia et al. 2022, ICLR submission",
             "Speculative Decoding: Lossless Speedup of Autoregressive Translation"),
    "wagner": ("Wagner et al. 2024", "Optimized Speculative Sampling for GPU Hardware Accelerators"),
    "medusa": ("Cai et al. 2024", "Medusa: Simple LLM Inference Acceleration Framework with Multiple Decoding Heads"),
    "survey": ("Survey article", "Numbers on Medusa and on IBM's multi-stage MLP drafter"),
    "claims": ("Claims in running text", "Numbers that the papers state outside their tables"),
}
OTHERS = ("Further experiments", "Ours, beside no printed table")


def paper(experiment):
    """Name and title of the paper that an experiment reproduces."""
    return PAPERS.get(experiment.partition("-")[0], OTHERS)


def by_paper(experiments):
    """The experiments of each paper as (name, title, ids), in the order of the table above."""
    groups = []
    for name, title in [*PAPERS.values(), OTHERS]:
        own = [experiment for experiment in experiments if paper(experiment) == (name, title)]
        if own:
            groups.append((name, title, own))
    return groups
