// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/memory_footprint.hpp"

#include <initializer_list>

#include "core/check.hpp"

namespace foredraft::analytic {
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
  // The residual at the rejected position, scaled or clamped, and the exponential variates that draw from it.
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
