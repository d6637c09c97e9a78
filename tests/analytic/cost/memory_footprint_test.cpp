// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/published_costs.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <initializer_list>

#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {

using tests::few_ulp;

TEST_CASE("sizes in memory are products of their counts") {
  CHECK(encoder_output_bytes(32, 128, 512, 4) == 8.0 * 1024 * 1024);
  CHECK(encoder_output_bytes(32, 128, 512, 2) == 4.0 * 1024 * 1024);
  CHECK(block_logits_bytes(1, 25, 32'000, 4) == 3.2e6);
  CHECK(block_logits_bytes(32, 25, 32'000, 4) == 102.4e6);
  CHECK(attention_weights_bytes(2, 8, 100, 4) == 640'000.0);
  CHECK(key_value_cache_bytes(1, 6, 10, 512, 2) == 2.0 * 6 * 10 * 512 * 2);
  // Beyond 64 bits without overflow.
  CHECK(attention_weights_bytes(1'000'000, 1'000, 10'000'000'000, 4) == Approx(4e29).epsilon(few_ulp));
}

TEST_CASE("a verification call holds the most rows that a ledger of its tensors shows") {
  // Statement by statement: rows allocated, less those that are given back.
  const auto peak_of = [](std::int64_t given, std::initializer_list<std::int64_t> steps) {
    std::int64_t held = given;
    std::int64_t peak = given;
    for (const std::int64_t step : steps) peak = std::max(peak, held += step);
    return peak;
  };
  for (const std::int64_t gamma : {1, 2, 5, 20}) {
    const std::int64_t logits = gamma + (gamma + 1);
    CHECK(verification_logit_rows(gamma) == logits);
    // q and p by softmax; p - q at the rejected position; its positive part, p - q given back; exponential variates.
    CHECK(verification_peak_rows(VerificationVariant::baseline, gamma) ==
          peak_of(logits, {gamma, gamma + 1, 1, 1, -1, 1}));
    // Residuals and ratios of all positions; p and q by softmax; one residual over its sum; exponential variates.
    CHECK(verification_peak_rows(VerificationVariant::exact, gamma) ==
          peak_of(logits, {gamma, gamma, gamma + 1, gamma, 1, 1}));
    // No softmax; the residual over its sum is clamped, the unclamped one given back.
    CHECK(verification_peak_rows(VerificationVariant::sigmoid, gamma) == peak_of(logits, {gamma, gamma, 1, 1, -1, 1}));
  }
  CHECK_THROWS_WITH(verification_peak_rows(VerificationVariant::exact, 0), "invalid gamma=0 (must be at least 1)");
}

TEST_CASE("a peak through two batches goes through both, and in between") {
  const PeakMemory memory = peak_memory_through(200.0, 1, 211.0, 32, 490.0);
  CHECK(memory.per_row == Approx(9.0).epsilon(few_ulp));
  CHECK(memory.fixed == Approx(2.0).epsilon(1e-12));
  CHECK(peak_memory(memory, 1) == Approx(211.0).epsilon(few_ulp));
  CHECK(peak_memory(memory, 32) == Approx(490.0).epsilon(few_ulp));
  CHECK(peak_memory(memory, 4) == Approx(238.0).epsilon(few_ulp));
}

TEST_CASE("memory refuses counts below one, equal batches and missing sizes") {
  CHECK_THROWS_WITH(encoder_output_bytes(0, 1, 1, 4), "invalid batch=0 (must be at least 1)");
  CHECK_THROWS_WITH(key_value_cache_bytes(1, 6, 10, -1, 2), "invalid width=-1 (must be at least 1)");
  CHECK_THROWS_AS(peak_memory_through(1.0, 4, 2.0, 4, 3.0), DomainError);
  CHECK_THROWS_AS(peak_memory_through(std::nan(""), 1, 2.0, 4, 3.0), DomainError);
  CHECK_THROWS_WITH(peak_memory({.weights = 1.0, .fixed = 0.0, .per_row = 1.0}, 0),
                    "invalid batch=0 (must be at least 1)");
}

}  // namespace foredraft::analytic
