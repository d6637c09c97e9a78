#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes GGUF models of LLaMA shape with random weights, in pairs whose draft model is the target's first layers.

    python3 random_models.py FOLDER          (needs the packages gguf and numpy)

FOLDER gets {pair}-{target,draft}-{format}.gguf for every pair and format below. What a layer adds to the residual
stream is scaled down, so that the logits after the first layers resemble those after all of them: 40 to 80 % of the
drafts are accepted under greedy decoding. The vocabulary holds bytes and invented words; the text is meaningless.
"""

import argparse
import dataclasses
import pathlib

import gguf
import numpy

SEED = 22
FORMATS = {"f16": gguf.GGMLQuantizationType.F16, "q8_0": gguf.GGMLQuantizationType.Q8_0}


@dataclasses.dataclass(frozen=True)
class Pair:
    """Shape of a target; its drafter has the first `draft_layers` of its `layers`."""

    name: str
    width: int
    feed_forward: int
    heads: int
    layers: int
    draft_layers: int
    vocabulary: int
    branch_scale: float  # of the outputs of attention and feed-forward


PAIRS = [
    Pair("large", 1024, 2816, 16, 16, 2, 8192, 0.035),  # 213 M and 34 M parameters without the embedding
    Pair("small", 768, 2048, 12, 12, 2, 8192, 0.045),  # 91 M and 20 M
]


def random_matrix(random: numpy.random.Generator, outputs: int, inputs: int, scale: float) -> numpy.ndarray:
    return random.standard_normal((outputs, inputs), dtype=numpy.float32) * numpy.float32(scale)


def target_tensors(pair: Pair) -> dict[str, numpy.ndarray]:
    """All tensors in fp32, by GGUF's names. The same for every format."""
    random = numpy.random.default_rng(SEED)
    width, wide = pair.width, pair.feed_forward
    inner = width**-0.5
    outer = inner * pair.branch_scale
    tensors = {
        "token_embd.weight": random_matrix(random, pair.vocabulary, width, 1.0),
        "output.weight": random_matrix(random, pair.vocabulary, width, 2.0 * inner),
        "output_norm.weight": numpy.ones(width, numpy.float32),
    }
    for layer in range(pair.layers):
        matrices = [("attn_q", width, width, inner), ("attn_k", width, width, inner), ("attn_v", width, width, inner),
                    ("attn_output", width, width, outer), ("ffn_gate", wide, width, inner),
                    ("ffn_up", wide, width, inner), ("ffn_down", width, wide, outer)]
        for name, outputs, inputs, scale in matrices:
            tensors[f"blk.{layer}.{name}.weight"] = random_matrix(random, outputs, inputs, scale)
        for name in ("attn_norm", "ffn_norm"):
            tensors[f"blk.{layer}.{name}.weight"] = numpy.ones(width, numpy.float32)
    return tensors


def add_vocabulary(writer: gguf.GGUFWriter, size: int) -> None:
    words = [b"<unk>", b"<s>", b"</s>"] + [f"<0x{byte:02X}>".encode() for byte in range(256)]
    kinds = [gguf.TokenType.UNKNOWN] + 2 * [gguf.TokenType.CONTROL] + 256 * [gguf.TokenType.BYTE]
    made_up = size - len(words)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(words + [f"\u2581word{i}".encode() for i in range(made_up)])
    writer.add_token_scores(len(words) * [0.0] + [-1.0 - i for i in range(made_up)])
    writer.add_token_types(kinds + made_up * [gguf.TokenType.NORMAL])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)


def write_model(path: pathlib.Path, pair: Pair, layers: int, format_name: str, tensors: dict) -> None:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(path.stem)
    writer.add_context_length(4096)
    writer.add_embedding_length(pair.width)
    writer.add_feed_forward_length(pair.feed_forward)
    writer.add_block_count(layers)
    writer.add_head_count(pair.heads)
    writer.add_head_count_kv(pair.heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(pair.width // pair.heads)
    writer.add_vocab_size(pair.vocabulary)
    add_vocabulary(writer, pair.vocabulary)
    kind = FORMATS[format_name]
    for name, tensor in tensors.items():
        if name.startswith("blk.") and int(name.split(".")[1]) >= layers:
            continue
        if tensor.ndim == 1:
            writer.add_tensor(name, tensor)
        else:
            writer.add_tensor(name, gguf.quants.quantize(tensor, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for pair in PAIRS:
        tensors = target_tensors(pair)
        for name in FORMATS:
            for role, layers in (("target", pair.layers), ("draft", pair.draft_layers)):
                path = folder / f"{pair.name}-{role}-{name}.gguf"
                write_model(path, pair, layers, name, tensors)
                print(path, path.stat().st_size)


if __name__ == "__main__":
    main()
