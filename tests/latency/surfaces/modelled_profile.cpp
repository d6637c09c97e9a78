// SPDX-License-Identifier: Apache-2.0
#include "tests/latency/surfaces/modelled_profile.hpp"

#include <cmath>
#include <numbers>

#include "core/random_stream.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/counts.hpp"
#include "latency/operations/forward_passes.hpp"

namespace foredraft::latency::tests {
namespace {

double one_us(const LatencyModel& model, const Operation& operation, DataType type) {
  const Work work = work_of(operation, type);
  const bool attends = std::holds_alternative<Attend>(operation);
  const auto* project = std::get_if<Project>(&operation);
  const double moving = (work.read_bytes + work.written_bytes) / model.bandwidth_bytes_per_s;
  const double computing = work.flop / (attends ? model.attend_peak_flop_per_s : model.peak_flop_per_s);
  const double joined =
      std::isinf(model.sharpness)
          ? std::max(moving, computing)
          : std::pow(std::pow(moving, model.sharpness) + std::pow(computing, model.sharpness), 1.0 / model.sharpness);
  const double longer_sum = project == nullptr ? 0.0 : model.input_us * static_cast<double>(project->inputs);
  return (attends ? model.attend_launch_us : model.launch_us) + longer_sum + 1e6 * joined;
}

Measurement known_to_04_percent(double us) {
  SampleSummary summary = one_sample(us);
  summary.samples = 21;
  summary.median_ci95_us = {0.996 * us, 1.004 * us};
  return {.name = "modelled", .summary = summary, .samples_us = {}};
}

class NormalStream {
 public:
  double next() {
    const double radius = std::sqrt(-2.0 * std::log1p(-stream_.uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * stream_.uniform());
  }

 private:
  RandomStream stream_{7, {.purpose = Purpose::test, .point = 0, .block = 0}};
};

}  // namespace

double modelled_us(const LatencyModel& model, const Cell& cell) {
  const ModelShape& shape = find_model(model_registry(), cell.model);
  double sum_us = 0.0;
  for (const Operation& operation : program_of(shape, cell).operations) {
    sum_us += one_us(model, operation, data_type_of(cell.dtype));
  }
  return sum_us;
}

Profile modelled_profile(const LatencyModel& model, const std::vector<std::string>& names, double noise) {
  Profile profile{.source = Source::measured, .identity = {}, .device = {}, .limits = {}};
  profile.device.name = "device of a known model";
  profile.protocol = Protocol{};
  profile.aa_test = AgainstItself{.pairs = 10, .median_difference = 0.004, .p95_difference = 0.01};
  NormalStream normal;
  const auto add = [&](const std::string& name, Role role, std::int64_t batch, std::int64_t tokens,
                       std::int64_t context) {
    const Cell cell{.model = name,
                    .role = role,
                    .dtype = "fp16",
                    .batch = batch,
                    .tokens = tokens,
                    .context = context,
                    .source_length = find_model(model_registry(), name).source_length};
    const double us = modelled_us(model, cell) * std::exp(noise * normal.next());
    profile.steps.push_back({cell, timing_of(known_to_04_percent(us), 0.0, 0.0, 0.0)});
  };
  for (const std::string& name : names) {
    for (const std::int64_t context : {128, 1024}) {
      for (const std::int64_t batch : {1, 8, 64}) {
        for (const std::int64_t tokens : {1, 2, 4, 8, 32}) add(name, Role::decoder_pass, batch, tokens, context);
      }
    }
    for (const std::int64_t gamma : {1, 2, 4}) add(name, Role::autoregressive_drafting, 1, gamma, 128);
  }
  return profile;
}

double modelled_sampling_us(std::int64_t batch, std::int64_t gamma, std::int64_t vocabulary) {
  constexpr double us_an_element = 1e-5;
  return 2.0 + us_an_element * static_cast<double>(batch * (2 * gamma + 1) * vocabulary);
}

VerificationRow sampling_row(const VerificationCell& cell, double us) {
  return {.cell = cell, .launches = 1, .timing = timing_of(known_to_04_percent(us), 0.0, 0.0, 0.0)};
}

void add_sampling(Profile& profile, std::int64_t vocabulary) {
  for (const std::int64_t batch : {1, 8}) {
    for (const std::int64_t gamma : {0, 1, 4, 8}) {
      const VerificationCell cell{.verifier = "fused_exact",
                                  .dtype = "fp16",
                                  .batch = batch,
                                  .gamma = gamma,
                                  .vocabulary = vocabulary,
                                  .logits = "real_like",
                                  .cache = Cache::hot,
                                  .launch = Launch::graph};
      profile.verifications.push_back(sampling_row(cell, modelled_sampling_us(batch, gamma, vocabulary)));
    }
  }
}

}  // namespace foredraft::latency::tests
