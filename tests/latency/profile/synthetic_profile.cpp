// SPDX-License-Identifier: Apache-2.0
#include "tests/latency/profile/synthetic_profile.hpp"

#include <vector>

namespace foredraft::latency {
namespace {

Measurement made_up(double us, Stopped stopped) {
  std::vector<double> samples;
  for (int i = -10; i <= 10; ++i) samples.push_back(us * (1.0 + 0.001 * i));
  return {.name = "made up",
          .summary = summarise(samples),
          .samples_us = samples,
          .throttled = 2,
          .clock_mhz = 1234.0,
          .stopped = stopped};
}

Cell pass(const std::string& model, std::int64_t tokens, std::int64_t batch) {
  return {.model = model,
          .role = Role::decoder_pass,
          .dtype = "fp16",
          .batch = batch,
          .tokens = tokens,
          .context = 512,
          .source_length = 0,
          .cache = Cache::cold,
          .launch = Launch::graph};
}

KernelRow operation(const std::string& name, const std::string& shape, Cache cache, double us, double bytes,
                    double flop) {
  return {.operation = name,
          .shape = shape,
          .dtype = "fp16",
          .cache = cache,
          .launch = Launch::graph,
          .algorithm = name == "project" ? "id 66 tile 20 stages 35 split_k 1" : "",
          .timing = timing_of(made_up(us, Stopped::stable), 0.99 * bytes, 0.01 * bytes, flop)};
}

VerificationRow verification(const std::string& verifier, std::int64_t batch, Launch launch, double us) {
  const double floor_bytes = 85e6 * static_cast<double>(batch);
  return {.cell = {.verifier = verifier,
                   .dtype = "fp16",
                   .batch = batch,
                   .gamma = 5,
                   .vocabulary = 128'256,
                   .logits = "real_like",
                   .cache = Cache::hot,
                   .launch = launch},
          .launches = verifier == "fused_exact" ? 1 : 29,
          .read_backs = verifier == "fused_exact" ? 0 : 7,
          .requested_bytes = 1.5 * floor_bytes,
          .memory_bytes = 4096.0,
          .timing = timing_of(made_up(us, Stopped::stable), floor_bytes, 0.0, 0.0)};
}

}  // namespace

Profile synthetic_profile() {
  Profile profile{.source = Source::measured, .identity = {}, .device = {}, .limits = {}};
  profile.identity.tool_version = "0.0.0";
  profile.identity.cuda_driver = "made | up";
  profile.device.name = "Synthetic device of the tests";
  profile.device.compute_capability = "0.0";
  profile.device.multiprocessors = {.value = 10.0, .ci95 = {}, .origin = "made up"};
  profile.limits.memory_bandwidth_bytes_per_s = {.value = 2e12, .ci95 = {}, .origin = "made up"};
  profile.limits.read_bandwidth_bytes_per_s = {.value = 1e12, .ci95 = Interval{0.99e12, 1.01e12}, .origin = "made up"};
  profile.limits.matrix_peak_fp16_flop_per_s = {.value = 100e12, .ci95 = {}, .origin = "made up"};
  profile.limits.graph_node_us = {.value = 1.5, .ci95 = {}, .origin = "made up"};
  profile.protocol = Protocol{};
  profile.aa_test = AgainstItself{.pairs = 3, .median_difference = 0.001, .p95_difference = 0.01};
  // 1e9 bytes take 1,000 us at 1e12 a second; 4e11 operations take 4,000 us at 1e14.
  profile.steps.push_back({pass("model-a", 1, 1), timing_of(made_up(1250.0, Stopped::stable), 0.9e9, 0.1e9, 2e9)});
  profile.steps.push_back({pass("model-a", 2, 1), timing_of(made_up(2000.0, Stopped::out_of_time), 0.9e9, 0.1e9, 4e9)});
  profile.steps.push_back({pass("model-a", 1, 64), timing_of(made_up(8000.0, Stopped::stable), 1e9, 0.0, 4e11)});
  profile.steps.push_back({pass("model-b", 1, 1),
                           timing_of(Measurement{.name = "no time", .summary = {}, .samples_us = {}}, 1e8, 0.0, 2e8)});
  profile.steps.back().timing.stopped = Stopped::out_of_time;
  profile.kernels.push_back({.operation = "project",
                             .shape = "rows 1 outputs 64 inputs 32",
                             .dtype = "fp16",
                             .cache = Cache::hot,
                             .launch = Launch::graph,
                             .timing = timing_of(made_up(3.0, Stopped::stable), 4288.0, 128.0, 4096.0)});
  // 600 MB in 700 us are 86 % of the bandwidth of reading, 100 MB in 125 us 80 %; the sum is 700 + 4 * 125 + 3 * 5 us.
  const char* large = "rows 1 outputs 30000 inputs 10000";
  const char* small = "rows 1 outputs 10000 inputs 5000";
  const char* norm = "rows 1 width 250000 rms sum";
  profile.kernels.push_back(operation("project", large, Cache::cold, 700.0, 6e8, 6e8));
  profile.kernels.push_back(operation("project", small, Cache::cold, 125.0, 1e8, 1e8));
  profile.kernels.push_back(operation("add_normalise", norm, Cache::hot, 5.0, 2e6, 1e6));
  profile.breakdowns.push_back({pass("model-a", 1, 1),
                                {{"project", large, Cache::cold, 1},
                                 {"project", small, Cache::cold, 4},
                                 {"add_normalise", norm, Cache::hot, 3}}});
  profile.breakdowns.push_back({pass("model-b", 1, 1), {{"add_normalise", norm, Cache::hot, 2}}});
  // 85 MB at 85 % of 1e12 bytes per second are 100 us; with the fixed part the goal is 104 us, and 204 us for two.
  profile.verifications.push_back(verification("fused_exact", 1, Launch::graph, 100.0));
  profile.verifications.push_back(verification("hf_reference", 1, Launch::graph, 400.0));
  profile.verifications.push_back(verification("hf_reference", 1, Launch::eager, 900.0));
  profile.verifications.push_back(verification("wagner_sigmoid", 1, Launch::graph, 250.0));
  profile.verifications.push_back(verification("greedy_match", 1, Launch::graph, 60.0));
  profile.verifications.push_back(verification("fused_exact", 2, Launch::graph, 306.0));
  profile.verifications.push_back(verification("greedy_match", 4, Launch::graph, 240.0));
  profile.raw_samples.emplace(RawSamples{.bytes = 4711, .crc32 = "cbf43926"});
  profile.missing.push_back({"model-b decoder_pass fp16 batch 1 tokens 2 context 512 cold graph", "no time left"});
  profile.notes.push_back({"timer", "none: every time is made up"});
  return profile;
}

}  // namespace foredraft::latency
