// SPDX-License-Identifier: Apache-2.0
#include "app/deployment_options.hpp"

#include "app/request_options.hpp"
#include "app/scenario_options.hpp"
#include "inputs/deployment.hpp"
#include "latency/models/hugging_face.hpp"

namespace foredraft::app {

OptionGroup deployment_options() {
  return {"deployment of the models, for times from a data sheet",
          {{"assume", "FAMILY", "read the target's config.json as this architecture, if its own is unknown", false,
            latency::hugging_face_architectures},
           {"target-format", "F",
            "format of the target's weights: fp32, bf16, fp16, fp8, int8, int4, nvfp4, mxfp4, or a format of GGUF "
            "files: q4_k_m, "
            "...; default: as published, else fp16",
            false, weight_format_names},
           {"draft-format", "F", "format of the draft model's weights", false, weight_format_names},
           {"kv-format", "F", "format of both KV caches (default: that of the weights, but at least bf16)", false,
            number_format_names},
           {"target-tp", "T", "tensor parallelism of the target (default 1)"},
           {"draft-tp", "T", "tensor parallelism of the draft model (default 1)"},
           {"target-pp", "P", "pipeline stages of the target, each with a part of its layers (layer split; default 1)"},
           {"expert-skew", "S",
            "0: tokens choose their experts independently; 1: all choose the same (default: 0.4, as measured)"},
           {"bandwidth-efficiency", "E", "attained share of the memory bandwidth (docs/step-times.md)"},
           {"compute-efficiency", "E", "attained share of the matrix peak"},
           {"step-overhead-us", "U", "overhead of every forward pass, in addition to its operators"},
           {"memory-utilization", "U", "share of the device's memory for weights and KV cache (default 0.9)"},
           {"ignore-memory", "", "predict even if the models do not fit into memory"},
           {"draft-host-us", "U", "host time to draft for one request (--draft ngram or suffix)"},
           {"allow-vocabulary-mismatch", "", "accept a draft model with another vocabulary"}}};
}

inputs::AskedDeployment read_asked_deployment(CommandLine& line) {
  inputs::AskedDeployment asked;
  read_fields(line, inputs::deployment_fields(), asked);
  return asked;
}

void reject_deployment(CommandLine& line) { inputs::reject_deployment(read_asked_deployment(line), line.problems()); }

std::vector<std::string> read_deployment(CommandLine& line, const latency::Profile& profile,
                                         answers::ProfileQuestion& question, std::vector<FileDigest>& files) {
  const inputs::AskedPair asked{.target = question.target,
                                .draft = question.draft,
                                .heads = question.drafting == latency::Role::head_drafting,
                                .deployment = read_asked_deployment(line)};
  // With --prompt-device, the options for data sheets describe how the models run on that device.
  const auto beside = line.has("prompt-device") ? inputs::BesideTimes::of_another_sheet : inputs::BesideTimes::rejected;
  const inputs::DeployedPair pair = inputs::read_deployed_pair(asked, profile, line.problems(), beside);
  inputs::deploy(asked.deployment, pair, question, files);
  return pair.notes;
}

}  // namespace foredraft::app
