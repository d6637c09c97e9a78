# SPDX-License-Identifier: Apache-2.0
"""Predictions with drafters of checkpoints as they are published: block drafters, and the MTP layers of a target."""
import json

from table import case

# One pass a draft: 3 layers of 193 M, 50 M of the projection of hidden states, and the target's vocabulary projection of
# 622 M, in bf16 2.5 GB: 0.6 ms at 87 % of 4.8 TB/s, beside 6 us for each of 40 operators. 1 + 0.8 + ... + 0.22 = 4.22
# tokens in 0.87 + 5.88 + 0.5 ms, where a decode step takes 5.83: 3.39x.
BLOCK = "predict --device h200 --target qwen3-8b --draft config.json"
case("20 block drafter", f"{BLOCK} --marginal 0.8,0.65,0.52,0.42,0.34,0.27,0.22 --gamma 7", "20-block-drafter-config",
     first=[r"Use gamma 7\."], text=[r"1 pass at gamma 7", r"draft 0\.8[78]\d* \+ verify", r"for 4\.22 tokens", r"3\.(39|4\d)",
                                     r"up to 7 tokens \(drafter block\)"], any_order=False)
case("20 as many drafts as acceptance is known for", f"{BLOCK} --marginal 0.8,0.65,0.52", "20-block-drafter-config",
     first=[r"Use gamma 3\."], text=[r"1 pass at gamma 3"])
case("20 an alpha is no chain", f"{BLOCK} --alpha 0.7", "20-block-drafter-config",
     text=[r"are no chain", r"searched gamma 1 to 7: what one pass drafts"])
case("20 longer than the block", f"{BLOCK} --alpha 0.7 --gamma 8", "20-block-drafter-config",
     text=[r"drafts at most 7 tokens, not 8 \(block_size is 8\)"], exit=(2,))

# A hybrid of the sizes of 24: its MTP layer has 5120 x (2 x 24 + 2 x 4) x 256 + 24 x 256 x 5120 of attention with a
# gate, 3 x 5120 x 17408, 10240 x 5120 of inputs and the vocabulary projection of 5120 x 248320: 1.69e9 in bf16, 3.39 GB:
# 0.81 ms at 87 % of 4.8 TB/s, and 6 us for each of 17 operators.
HYBRID = dict(model_type="qwen3_5_text", hidden_act="silu", hidden_size=5120, intermediate_size=17408, num_hidden_layers=64,
              num_attention_heads=24, num_key_value_heads=4, head_dim=256, vocab_size=248320, attn_output_gate=True,
              full_attention_interval=4, linear_num_value_heads=48, linear_num_key_heads=16, linear_key_head_dim=128,
              linear_value_head_dim=128, linear_conv_kernel_dim=4, mtp_num_hidden_layers=1, dtype="bfloat16")
case("24 the target's own MTP layer", "predict --device h200 --target hybrid.json --draft mtp --marginal 0.85,0.7",
     files={"hybrid.json": json.dumps(HYBRID)},
     first=[r"Use gamma 2\."], text=[r"2 passes at gamma 2: inputs 0\.08\d+ \+ layers 0\.5\d* \+ vocabulary 1\.2",
                                     r"weights 53\.\d GB \+ 0\.849 GB"])
case("24 a target without one", "predict --device h200 --target qwen3-8b --draft mtp --alpha 0.7",
     text=[r"--draft: qwen3-8b has no layers for drafting \(MTP\)", r"name a head or a draft model"], exit=(2,))
case("24 drafts without a model", "predict --device h200 --target qwen3-8b --draft ngram --marginal 0.4,0.3,0.2 --context 8000",
     text=[r"drafting on the host: 0\.00848 ms", r"looked up on the host"])
