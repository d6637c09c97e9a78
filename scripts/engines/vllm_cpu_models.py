#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes Hugging Face models of LLaMA shape with the random weights of random_models.py, for vLLM.

    python3 vllm_cpu_models.py FOLDER TEXT...          (needs gguf, numpy, safetensors, tokenizers)

FOLDER gets target, draft (the target's first layers) and eagle (a head of one layer), with a byte-level BPE tokenizer
trained on the TEXT files and filled up with invented words.
"""

import argparse
import json
import pathlib

import numpy
import random_models
import safetensors.numpy
import tokenizers

PAIR = next(pair for pair in random_models.PAIRS if pair.name == "small")
NAMES = {"token_embd": "model.embed_tokens", "output": "lm_head", "output_norm": "model.norm",
         "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
         "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
         "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}


def hugging_face_name(name):
    """A tensor's name in a checkpoint of LlamaForCausalLM, from GGUF's."""
    parts = name.removesuffix(".weight").split(".")
    layer = f"model.layers.{parts[1]}." if parts[0] == "blk" else ""
    return f"{layer}{NAMES[parts[-1]]}.weight"


def config(layers):
    return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": PAIR.width,
            "intermediate_size": PAIR.feed_forward, "num_hidden_layers": layers, "num_attention_heads": PAIR.heads,
            "num_key_value_heads": PAIR.heads, "head_dim": PAIR.width // PAIR.heads, "vocab_size": PAIR.vocabulary,
            "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
            "tie_word_embeddings": False, "attention_bias": False, "mlp_bias": False, "bos_token_id": 0,
            "eos_token_id": 1, "torch_dtype": "float32"}


def train_tokenizer(texts):
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.train(texts, tokenizers.trainers.BpeTrainer(
        vocab_size=PAIR.vocabulary, special_tokens=["<s>", "</s>", "<pad>"], show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()))
    made.add_tokens([f" made{i}up" for i in range(PAIR.vocabulary - made.get_vocab_size())])
    return made


def write_model(folder, tensors, shape, tokenizer):
    folder.mkdir(parents=True, exist_ok=True)
    safetensors.numpy.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(shape, indent=1))
    (folder / "generation_config.json").write_text(json.dumps({"bos_token_id": 0, "eos_token_id": 1}))
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>",
         "model_max_length": 2048, "clean_up_tokenization_spaces": False}))


def write_models(folder, texts):
    tokenizer = train_tokenizer([str(text) for text in texts])
    named = random_models.target_tensors(PAIR)
    for role, layers in (("target", PAIR.layers), ("draft", PAIR.draft_layers)):
        kept = {hugging_face_name(name): tensor for name, tensor in named.items()
                if not name.startswith("blk.") or int(name.split(".")[1]) < layers}
        write_model(folder / role, kept, config(layers), tokenizer)
    # Embeddings and output layer of a head are the target's, and its layer does not begin with a norm.
    random = numpy.random.default_rng(random_models.SEED + 1)
    head = {"fc.weight": random_models.random_matrix(random, PAIR.width, 2 * PAIR.width, (2 * PAIR.width) ** -0.5)}
    head |= {hugging_face_name(name).removeprefix("model."): tensor for name, tensor in named.items()
             if name.startswith("blk.0.") and "attn_norm" not in name}
    write_model(folder / "eagle", head, config(1), tokenizer)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("texts", nargs="+", type=pathlib.Path)
    asked = parser.parse_args()
    write_models(asked.folder, asked.texts)


if __name__ == "__main__":
    main()
