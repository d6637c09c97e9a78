// SPDX-License-Identifier: Apache-2.0
#include "app/deployment_options.hpp"

#include "app/scenario_options.hpp"

#include <fmt/format.h>

#include "core/streams.hpp"

namespace foredraft::app {
namespace {

constexpr std::int64_t max_devices = 1024;
constexpr double max_overhead_us = 1e9;

/// Options that change times computed from a data sheet, and mean nothing where times were measured.
const std::vector<std::string_view> sheet_options{
    "target-format", "draft-format",         "kv-format",          "target-tp",       "draft-tp",
    "expert-skew",   "bandwidth-efficiency", "compute-efficiency", "step-overhead-us"};

std::optional<latency::NumberFormat> read_format(CommandLine& line, std::string_view name) {
  const auto word = line.text(name);
  if (!word) return std::nullopt;
  const auto format = latency::number_format(*word);
  if (!format) line.reject(name, fmt::format("unknown format \"{}\"", *word), "", inputs::format_suggestion(*word));
  return format;
}

inputs::AskedDeployment read_asked(CommandLine& line) {
  return {.target_format = read_format(line, "target-format"),
          .draft_format = read_format(line, "draft-format"),
          .kv_format = read_format(line, "kv-format"),
          .target_tp = line.integer("target-tp", 1, max_devices).value_or(1),
          .draft_tp = line.integer("draft-tp", 1, max_devices).value_or(1),
          .expert_skew = line.real("expert-skew", 0.0, 1.0).value_or(0.0)};
}

}  // namespace

OptionGroup deployment_options() {
  return {"deployment of the models, for times from a data sheet",
          {{"target-format", "F",
            "format of the target's weights: fp32, bf16, fp16 (default), fp8, int8, int4, nvfp4, mxfp4", false,
            number_format_names},
           {"draft-format", "F", "format of the draft model's weights", false, number_format_names},
           {"kv-format", "F", "format of both KV caches (default: as the weights, but at least bf16)", false,
            number_format_names},
           {"target-tp", "T", "tensor parallelism of the target (default 1)"},
           {"draft-tp", "T", "tensor parallelism of the draft model (default 1)"},
           {"expert-skew", "S", "0: tokens choose their experts independently (default); 1: all choose the same"},
           {"bandwidth-efficiency", "E", "attained share of the memory bandwidth (docs/step-times.md)"},
           {"compute-efficiency", "E", "attained share of the matrix peak"},
           {"step-overhead-us", "U", "overhead of every forward pass beside its operators"},
           {"memory-utilization", "U", "share of the device's memory for weights and KV cache (default 0.9)"},
           {"ignore-memory", "", "predict also what does not fit into memory"},
           {"allow-vocabulary-mismatch", "", "accept a draft model with another vocabulary"}}};
}

void reject_deployment(CommandLine& line) {
  std::vector<std::string_view> names = sheet_options;
  names.insert(names.end(), {"memory-utilization", "ignore-memory", "allow-vocabulary-mismatch"});
  line.reject_any(names, "given without --device", "it says how models run on a device", "e.g. --device h200");
}

inputs::DeployedPair read_deployed_pair(CommandLine& line, const latency::Profile& profile, inputs::AskedPair asked) {
  // Beside --prompt-device they say how the models of that data sheet run.
  if (profile.source != latency::Source::datasheet && !line.has("prompt-device")) {
    line.reject_any(sheet_options, "not used with measured times", "a profile's times are of what was measured",
                    "remove it, or name a data sheet with --device");
  }
  asked.deployment = read_asked(line);
  line.done();
  inputs::DeployedPair pair = inputs::read_pair(asked, profile);
  if (pair.head_problem) line.reject("draft", *pair.head_problem, "");
  if (pair.vocabulary_problem && !line.has("allow-vocabulary-mismatch")) {
    line.reject("draft", *pair.vocabulary_problem, "",
                "take a draft of the target's family, or allow it by --allow-vocabulary-mismatch");
  }
  line.done();
  for (const std::string& note : pair.notes) say("{}", note);
  return pair;
}

double read_memory_utilization(CommandLine& line) {
  return line.real("memory-utilization", 0.01, 1.0).value_or(latency::default_memory_utilization);
}

latency::AttainableOverrides read_attained(CommandLine& line) {
  return {.bandwidth_efficiency = line.real("bandwidth-efficiency", 0.01, 1.0),
          .compute_efficiency = line.real("compute-efficiency", 0.01, 1.0),
          .step_us = line.real("step-overhead-us", 0.0, max_overhead_us),
          .iteration_us = {}};
}

void read_deployment(CommandLine& line, const latency::Profile& profile, answers::ProfileQuestion& question,
                     std::vector<FileDigest>& files) {
  question.attained = read_attained(line);
  // Stated, it is charged as it is: nothing of our own beside it.
  if (line.has("overhead-us")) question.attained.iteration_us = 0.0;
  question.memory_utilization = read_memory_utilization(line);
  question.ignore_memory = line.has("ignore-memory");
  inputs::DeployedPair pair = read_deployed_pair(
      line, profile,
      {.target = question.target, .draft = question.draft, .heads = question.drafting == latency::Role::head_drafting});
  question.target = std::move(pair.target);
  question.draft = std::move(pair.draft);
  question.models = std::move(pair.models);
  question.target_deployment = pair.target_deployment;
  question.draft_deployment = pair.draft_deployment;
  files.insert(files.end(), pair.files.begin(), pair.files.end());
}

}  // namespace foredraft::app
