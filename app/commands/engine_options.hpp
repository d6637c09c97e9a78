// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "core/command_line.hpp"

namespace foredraft::app {

/// Options of vLLM, SGLang and llama.cpp.
inline constexpr std::array engine_options{
    OtherOption{"--model", "--target"},
    OtherOption{"-m", "--target"},
    OtherOption{"--model-path", "--target"},
    OtherOption{"--speculative-config", "--draft MODEL --gamma N"},
    OtherOption{"--speculative-model", "--draft"},
    OtherOption{"--speculative-draft-model-path", "--draft"},
    OtherOption{"--model-draft", "--draft"},
    OtherOption{"-md", "--draft"},
    OtherOption{"--num-speculative-tokens", "--gamma"},
    OtherOption{"--speculative-num-steps", "--gamma"},
    OtherOption{"--speculative-num-draft-tokens", "--gamma, one less"},
    OtherOption{"--draft-max", "--gamma"},
    OtherOption{"--tensor-parallel-size", "--target-tp"},
    OtherOption{"--tp-size", "--target-tp"},
    OtherOption{"-tp", "--target-tp"},
    OtherOption{"--pipeline-parallel-size", "--target-pp"},
    OtherOption{"--quantization", "--target-format"},
    OtherOption{"--kv-cache-dtype", "--kv-format"},
    OtherOption{"--max-model-len", "--context"},
    OtherOption{"--ctx-size", "--context"},
    OtherOption{"--max-num-seqs", "--max-batch"},
    OtherOption{"--max-running-requests", "--max-batch"},
    OtherOption{"--gpu-memory-utilization", "--memory-utilization"},
    OtherOption{"--mem-fraction-static", "--memory-utilization"},
};

}  // namespace foredraft::app
