# SPDX-License-Identifier: Apache-2.0
"""Predictions with models, formats and devices as people name them: the line that says what was read, and the memory."""
from table import case

PREDICT = "predict --draft qwen3-0.6b --alpha 0.7 --ignore-memory --allow-vocabulary-mismatch --device"

# Hundreds of layers named one by one, all NVFP4: 0.44 G of 4.5 bits, and a tied table of 0.156 G in bf16.
case("19 a long list of quantized layers", f"{PREDICT} b200 --target config.json", "19-config-many-keys",
     text=[r"596 M parameters, nvfp4"])

# Feed-forward 25.17 G at 4 + 16/32 bits = 14.16 GB, attention 6.04 G and two tables of 0.778 G in bf16 = 15.19 GB.
case("21 groups of 32 and attention left out", f"{PREDICT} h100 --target config.json", "21-int4-groups-and-ignore",
     text=[r"32\.8 G parameters", r"int4 of 4\.5 bits", r"attention bf16", r"of 29\.3 GB a step"])

# Attention 75.1 M, dense blocks 75.5 M, experts 1245.7 M, vocabulary 131.1 M, and norms: 1.53 G.
FAMILIES = {"glm_moe_dsa": r"8 layers x 2048, 4 of 32 experts, 1\.5[0-4]* G",
            "deepseek_v32": r"8 layers x 2048, 4 of 32 experts",
            "llama4_text": r"1 of 16 experts", "mimo_v2_flash": r"experts"}
for family, shape in FAMILIES.items():
    case(f"22 {family}", f"{PREDICT} b200 --target {family}.json", "22-model-families", text=[shape], forbidden=[r"unknown"])

# Each is a card; tests/latency checks its memory and bandwidth.
DEVICES = ["DGX Spark", "GB10", "NVIDIA GB10", "MI355X", "MI350X", "GB300", "RTX 6000 Pro",
           "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
           "H100 PCIe", "H100 NVL", "GH200", "H20-3e", "A10G", "NVIDIA A100 80GB PCIe", "RTX A6000", "RTX 6000 Ada", "L40",
           "L20", "T4", "RTX 5080", "RTX 4080", "Tesla V100-SXM2-32GB", "M3 Ultra", "M5 Max", "Strix Halo",
           "Ryzen AI Max+ 395", "Radeon AI PRO R9700", "RX 7900 XTX", "Arc Pro B60", "Arc Pro B70", "Gaudi 3", "TPU v6e",
           "Ascend 910B", "Jetson Thor"]
for device in DEVICES:
    case(f"23 {device}", "predict --target llama-3.1-8b --draft eagle3-llama-3.1-8b --alpha 0.7 --ignore-memory "
         f"--device '{device}'", text=[r"source datasheet: roofline"])

# Published in mxfp4 alone: 65 GB, which one H100 holds.
case("27 the format of the checkpoint", f"{PREDICT} h100 --target gpt-oss-120b",
     text=[r"in the formats of its checkpoint, mxfp4", r"of 65\.\d GB a step"], forbidden=[r"Does not fit"])
