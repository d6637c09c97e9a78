// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/published_costs.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <initializer_list>

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

double energy_wh(const PowerUse& use) {
  check_nonnegative("power_w", use.power_w);
  check_nonnegative("hours_h", use.hours_h);
  if (!(use.pue >= 1.0 && std::isfinite(use.pue))) {
    throw DomainError(fmt::format("invalid pue={} (must be finite and at least 1)", use.pue));
  }
  return use.power_w * use.hours_h * use.pue;
}

double carbon_g(double energy_wh, double intensity_g_per_wh) {
  check_nonnegative("energy_wh", energy_wh);
  check_nonnegative("intensity_g_per_wh", intensity_g_per_wh);
  return energy_wh * intensity_g_per_wh;
}

double energy_ratio(double power_ratio, double speedup) {
  check_positive("power_ratio", power_ratio);
  check_positive("speedup", speedup);
  return power_ratio / speedup;
}

namespace {

void check_gain(std::string_view name, double gain) {
  if (!(std::isfinite(gain) && gain <= 1.0)) {
    throw DomainError(fmt::format("invalid {}={} (must be finite and at most 1)", name, gain));
  }
}

}  // namespace

double kernel_share(const IterationTimes& times) {
  check_nonnegative("drafting", times.drafting);
  check_nonnegative("target", times.target);
  check_nonnegative("kernel", times.kernel);
  const double whole = times.drafting + times.target + times.kernel;
  check_positive("drafting + target + kernel", whole);
  return times.kernel / whole;
}

double wall_gain(double share, double part_gain) {
  check_probability("share", share);
  check_gain("part_gain", part_gain);
  return share * part_gain;
}

double implied_share(double wall_gain, double part_gain) {
  check_gain("wall_gain", wall_gain);
  check_gain("part_gain", part_gain);
  if (part_gain == 0.0) throw DomainError("invalid part_gain=0 (must not be 0: any share gives a total gain of 0)");
  return wall_gain / part_gain;
}

double total_gain(double call_gain, double call_ratio) {
  check_gain("call_gain", call_gain);
  check_nonnegative("call_ratio", call_ratio);
  // This order of operations makes equal numbers of calls return the call's own gain exactly.
  return call_gain + (1.0 - call_ratio) * (1.0 - call_gain);
}

double implied_call_ratio(double total_gain, double call_gain) {
  check_gain("total_gain", total_gain);
  check_gain("call_gain", call_gain);
  if (!(call_gain < 1.0))
    throw DomainError("invalid call_gain=1 (must be below 1: free calls do not determine their number)");
  return (1.0 - total_gain) / (1.0 - call_gain);
}

namespace {

struct Count {
  const char* name;
  std::int64_t value;
};

double product_of(std::initializer_list<Count> counts) {
  double product = 1.0;
  for (const Count& count : counts) {
    check_at_least(count.name, count.value, 1);
    product *= static_cast<double>(count.value);
  }
  return product;
}

}  // namespace

double encoder_output_bytes(std::int64_t batch, std::int64_t length, std::int64_t width, std::int64_t element_bytes) {
  return product_of({{"batch", batch}, {"length", length}, {"width", width}, {"element_bytes", element_bytes}});
}

double block_logits_bytes(std::int64_t batch, std::int64_t block, std::int64_t vocabulary, std::int64_t element_bytes) {
  return product_of({{"batch", batch}, {"block", block}, {"vocabulary", vocabulary}, {"element_bytes", element_bytes}});
}

double attention_weights_bytes(std::int64_t batch, std::int64_t heads, std::int64_t length,
                               std::int64_t element_bytes) {
  return product_of(
      {{"batch", batch}, {"heads", heads}, {"length", length}, {"length", length}, {"element_bytes", element_bytes}});
}

double key_value_cache_bytes(std::int64_t batch, std::int64_t layers, std::int64_t length, std::int64_t width,
                             std::int64_t element_bytes) {
  return 2.0 * product_of({{"batch", batch},
                           {"layers", layers},
                           {"length", length},
                           {"width", width},
                           {"element_bytes", element_bytes}});
}

std::int64_t verification_logit_rows(std::int64_t gamma) {
  check_at_least("gamma", gamma, 1);
  return 2 * gamma + 1;
}

std::int64_t verification_peak_rows(VerificationVariant variant, std::int64_t gamma) {
  const std::int64_t logits = verification_logit_rows(gamma);
  const std::int64_t distributions = variant == VerificationVariant::sigmoid ? 0 : logits;
  const std::int64_t ratios_and_residuals = variant == VerificationVariant::baseline ? 0 : 2 * gamma;
  // The residual at the rejected position, scaled or clamped, and the exponential variates used to sample from it.
  constexpr std::int64_t drawing = 2;
  return logits + distributions + ratios_and_residuals + drawing;
}

double peak_memory(const PeakMemory& memory, std::int64_t batch) {
  check_nonnegative("weights", memory.weights);
  check_at_least("batch", batch, 1);
  return memory.weights + memory.fixed + static_cast<double>(batch) * memory.per_row;
}

PeakMemory peak_memory_through(double weights, std::int64_t batch_a, double peak_a, std::int64_t batch_b,
                               double peak_b) {
  check_nonnegative("weights", weights);
  check_nonnegative("peak_a", peak_a);
  check_nonnegative("peak_b", peak_b);
  check_at_least("batch_a", batch_a, 1);
  check_at_least("batch_b", batch_b, 1);
  if (batch_a == batch_b) throw DomainError("invalid batches (must be two different ones)");
  const double per_row = (peak_b - peak_a) / static_cast<double>(batch_b - batch_a);
  return {.weights = weights, .fixed = peak_a - static_cast<double>(batch_a) * per_row - weights, .per_row = per_row};
}

}  // namespace foredraft::analytic
