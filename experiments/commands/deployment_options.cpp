// SPDX-License-Identifier: Apache-2.0
#include "experiments/commands/deployment_options.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "core/streams.hpp"
#include "experiments/models/read_model.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::int64_t max_devices = 1024;
constexpr double max_overhead_us = 1e9;

/// Options that change times computed from a data sheet, and mean nothing where times were measured.
const std::vector<std::string_view>& sheet_options() {
  static const std::vector<std::string_view> names{
      "target-format", "draft-format",         "kv-format",          "target-tp",       "draft-tp",
      "expert-skew",   "bandwidth-efficiency", "compute-efficiency", "step-overhead-us"};
  return names;
}

std::optional<latency::NumberFormat> read_format(CommandLine& line, std::string_view name) {
  const auto word = line.text(name);
  if (!word) return std::nullopt;
  const auto format = latency::number_format(*word);
  if (!format) {
    std::vector<std::string> known;
    for (const latency::NumberFormat one : latency::number_formats()) known.emplace_back(to_string(one));
    line.refuse(name, fmt::format("unknown format \"{}\"", *word), "", suggestion_for(*word, known));
  }
  return format;
}

bool has_steps(const latency::Profile& profile, const std::string& model) {
  return std::any_of(profile.steps.begin(), profile.steps.end(),
                     [&](const latency::StepRow& row) { return row.cell.model == model; });
}

/// A model that the profile has steps of keeps its name there; nothing more has to be known of it.
std::optional<ReadModel> read_named(const latency::Profile& profile, std::string& name, ProfileQuestion& question,
                                    std::vector<FileDigest>& files) {
  const bool known = std::ranges::find(question.models, name, &latency::ModelShape::name) != question.models.end();
  if (latency::holds_steps_alone(profile.source) || (!known && has_steps(profile, name))) return std::nullopt;
  ReadModel read = read_model(name);
  name = read.shape.name;
  for (const std::string& note : read.notes) say("{}: {}", name, note);
  if (!read.digests.empty()) {
    files.insert(files.end(), read.digests.begin(), read.digests.end());
    std::erase_if(question.models, [&](const latency::ModelShape& shape) { return shape.name == name; });
    question.models.push_back(read.shape);
  }
  return read;
}

latency::NumberFormat usual_cache_format(latency::NumberFormat weights) {
  const bool narrow = latency::bits_of(weights) < latency::bits_of(latency::NumberFormat::fp16);
  return narrow ? latency::NumberFormat::bf16 : weights;
}

latency::Deployment deployment_of(const std::optional<ReadModel>& model, std::optional<latency::NumberFormat> weights,
                                  std::optional<latency::NumberFormat> cache, std::int64_t devices, double skew) {
  latency::Deployment deployment{.tensor_parallel = devices, .expert_skew = skew};
  deployment.weights =
      weights ? *weights : (model ? model->weights : std::nullopt).value_or(latency::NumberFormat::fp16);
  deployment.kv_cache =
      cache ? *cache : (model ? model->kv_cache : std::nullopt).value_or(usual_cache_format(deployment.weights));
  return deployment;
}

void check_pair(CommandLine& line, const ReadModel& target, const ReadModel& draft) {
  if (const auto problem = head_problem(target.shape, draft.shape)) {
    line.refuse("draft", *problem, "");
  }
  const auto problem = vocabulary_problem(target.shape, draft.shape);
  if (problem && !line.has("allow-vocabulary-mismatch")) line.refuse("draft", *problem, "");
  if (const auto note = vocabulary_note(target.shape, draft.shape)) say("{}", *note);
}

}  // namespace

OptionGroup deployment_options() {
  return {"how the models of a data sheet's times are deployed",
          {{"target-format", "F", "of the target's weights: fp32, bf16, fp16 (default), fp8, int8, int4, nvfp4, mxfp4"},
           {"draft-format", "F", "of the draft model's weights"},
           {"kv-format", "F", "of both KV caches (default: as the weights, bf16 where these are narrower)"},
           {"target-tp", "T", "devices that share the target (tensor parallelism, default 1)"},
           {"draft-tp", "T", "devices that share the draft model (default 1)"},
           {"expert-skew", "S", "0: tokens choose their experts independently (default), 1: all share them"},
           {"bandwidth-efficiency", "E", "share of the data sheet's bandwidth that the engine reaches"},
           {"compute-efficiency", "E", "share of its matrix peak"},
           {"step-overhead-us", "U", "what every forward pass costs beside its operators"},
           {"memory-utilization", "U", "share of a device's memory for weights and caches (default 0.9)"},
           {"ignore-memory", "", "answer also where it does not fit"},
           {"allow-vocabulary-mismatch", "", "a draft model with other tokens than the target"}}};
}

void refuse_deployment(CommandLine& line) {
  std::vector<std::string_view> names = sheet_options();
  for (const char* name : {"memory-utilization", "ignore-memory", "allow-vocabulary-mismatch"})
    names.emplace_back(name);
  line.refuse_any(names, "given without --device", "it says how models run on a device", "e.g. --device h200");
}

void read_deployment(CommandLine& line, const latency::Profile& profile, ProfileQuestion& question,
                     std::vector<FileDigest>& files) {
  if (profile.source != latency::Source::datasheet) {
    line.refuse_any(sheet_options(), "not used with measured times", "a profile's times are of what was measured",
                    "remove it, or name a data sheet with --device");
  }
  const auto target_format = read_format(line, "target-format");
  const auto draft_format = read_format(line, "draft-format");
  const auto cache_format = read_format(line, "kv-format");
  const std::int64_t target_devices = line.integer("target-tp", 1, max_devices).value_or(1);
  const std::int64_t draft_devices = line.integer("draft-tp", 1, max_devices).value_or(1);
  const double skew = line.real("expert-skew", 0.0, 1.0).value_or(0.0);
  question.attained = {.bandwidth_efficiency = line.real("bandwidth-efficiency", 0.01, 1.0),
                       .compute_efficiency = line.real("compute-efficiency", 0.01, 1.0),
                       .step_us = line.real("step-overhead-us", 0.0, max_overhead_us),
                       .iteration_us = {}};
  // Stated, it is charged as it is: nothing of our own beside it.
  if (line.has("overhead-us")) question.attained.iteration_us = 0.0;
  question.memory_utilization = line.real("memory-utilization", 0.01, 1.0).value_or(question.memory_utilization);
  question.ignore_memory = line.has("ignore-memory");
  line.done();

  const bool heads = question.drafting == latency::Role::head_drafting;
  const std::optional<ReadModel> target = read_named(profile, question.target, question, files);
  if (heads) question.draft = question.target;
  const std::optional<ReadModel> draft = heads ? target : read_named(profile, question.draft, question, files);
  if (target && draft && !heads) check_pair(line, *target, *draft);
  line.done();
  question.target_deployment = deployment_of(target, target_format, cache_format, target_devices, skew);
  question.draft_deployment = deployment_of(draft, draft_format, cache_format, draft_devices, skew);
}

}  // namespace foredraft::experiments
