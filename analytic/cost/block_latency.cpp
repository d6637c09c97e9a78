// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/block_latency.hpp"

#include <algorithm>

#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

void check_latency(const BlockLatency& latency) {
  check_nonnegative("target_encoder_ms", latency.target_encoder_ms);
  check_nonnegative("drafter_encoder_ms", latency.drafter_encoder_ms);
  check_nonnegative("draft_ms", latency.draft_ms);
  check_nonnegative("verify_ms", latency.verify_ms);
  check_nonnegative("overhead_ms", latency.overhead_ms);
  check_nonnegative("fixed_ms", latency.fixed_ms);
}

}  // namespace

double iteration_ms(const BlockLatency& latency) {
  check_latency(latency);
  return latency.draft_ms + latency.verify_ms + latency.overhead_ms;
}

double setup_ms(const BlockLatency& latency) {
  check_latency(latency);
  return latency.target_encoder_ms + latency.drafter_encoder_ms + latency.fixed_ms;
}

double sentence_ms(const BlockLatency& latency, double iterations) {
  check_nonnegative("iterations", iterations);
  return setup_ms(latency) + iterations * iteration_ms(latency);
}

double drafter_alone_ms(const BlockLatency& latency, double iterations) {
  check_latency(latency);
  check_nonnegative("iterations", iterations);
  return latency.drafter_encoder_ms + iterations * latency.draft_ms;
}

double speedup(const BlockLatency& latency, double iterations, double plain_ms) {
  check_positive("plain_ms", plain_ms);
  return plain_ms / sentence_ms(latency, iterations);
}

double speedup_limit(const BlockLatency& latency, double plain_ms) {
  check_positive("plain_ms", plain_ms);
  return plain_ms / setup_ms(latency);
}

double parallel_encoders_gain_ms(const BlockLatency& latency) {
  check_latency(latency);
  return std::min(latency.target_encoder_ms, latency.drafter_encoder_ms);
}

ModuleShares module_shares(const BlockLatency& latency, double iterations) {
  const double total = sentence_ms(latency, iterations);
  check_positive("sentence_ms", total);
  return {.target_encoder = latency.target_encoder_ms / total,
          .drafter_encoder = latency.drafter_encoder_ms / total,
          .draft = iterations * latency.draft_ms / total,
          .verify = iterations * latency.verify_ms / total,
          .other = (iterations * latency.overhead_ms + latency.fixed_ms) / total};
}

double speedup_without_setup(double tokens_per_iteration, double draft_time, double verify_time, double step_time) {
  check_positive("tokens_per_iteration", tokens_per_iteration);
  check_nonnegative("draft_time", draft_time);
  check_nonnegative("verify_time", verify_time);
  check_positive("draft_time + verify_time", draft_time + verify_time);
  check_positive("step_time", step_time);
  return step_time * tokens_per_iteration / (draft_time + verify_time);
}

}  // namespace foredraft::analytic
