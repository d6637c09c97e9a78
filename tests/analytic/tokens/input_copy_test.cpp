// SPDX-License-Identifier: Apache-2.0
// Input-guided decoding: every text of a dozen tokens, edit by edit, against the renewal forms.
#include "analytic/tokens/acceptance_by_position.hpp"
#include "analytic/tokens/finite_length.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "analytic/tokens/token_count.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::second_route;

/// Passes for a text whose token k is an edit if bit k of `edits` is set (edits count only where copying reaches them).
std::int64_t calls_of(std::uint64_t edits, std::int64_t length, std::int64_t n, std::int64_t realign) {
  std::int64_t calls = 0;
  for (std::int64_t place = 0; place < length;) {
    ++calls;
    bool edited = false;
    for (std::int64_t i = 0; i < n && place < length && !edited; ++i, ++place) edited = (edits >> place & 1U) != 0;
    for (std::int64_t i = 0; edited && i < realign && place < length; ++i, ++place) ++calls;
  }
  return calls;
}

double by_enumeration(const InputCopy& copy, std::int64_t n, std::int64_t length) {
  double mean = 0.0;
  for (std::uint64_t edits = 0; edits < std::uint64_t{1} << static_cast<unsigned>(length); ++edits) {
    double probability = 1.0;
    for (std::int64_t k = 0; k < length; ++k) {
      probability *= (edits >> k & 1U) != 0 ? copy.edit_rate : 1.0 - copy.edit_rate;
    }
    mean += probability * static_cast<double>(calls_of(edits, length, n, copy.realign));
  }
  return mean;
}

}  // namespace

TEST_CASE("expected passes over a text match an enumeration of its edits") {
  for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
    for (const double rate : {0.0, 0.15, 0.6, 1.0}) {
      for (const std::int64_t realign : {0, 1, 3}) {
        for (const std::int64_t gamma : {1, 4, 40}) {
          CAPTURE(rate, realign, gamma, to_string(convention));
          const InputCopy copy{rate, realign};
          for (const std::int64_t length : {1, 5, 11}) {
            CHECK(input_copy_iterations(copy, gamma, convention, length) ==
                  Approx(by_enumeration(copy, max_tokens(gamma, convention), length)).epsilon(second_route));
          }
        }
      }
    }
  }
  CHECK(input_copy_iterations({0.1, 2}, 5, Convention::bonus, 0) == 0.0);
}

TEST_CASE("the rate of infinite text is the limit of long texts, under both conventions") {
  for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
    for (const double rate : {0.02, 0.3, 0.9}) {
      for (const std::int64_t realign : {0, 2}) {
        const InputCopy copy{rate, realign};
        // In the difference of two long texts the cost of their ends cancels.
        const double calls =
            input_copy_iterations(copy, 9, convention, 40'000) - input_copy_iterations(copy, 9, convention, 20'000);
        CAPTURE(rate, realign, to_string(convention));
        CHECK(input_copy(copy, 9, convention).tokens == Approx(20'000.0 / calls).epsilon(1e-10));
      }
    }
  }
}

TEST_CASE("a geometric length averages the passes of all lengths") {
  const InputCopy copy{0.2, 2};
  const double mean = 6.0;
  double expected = 0.0;
  for (std::int64_t length = 1; length <= 400; ++length) {
    const double probability = std::pow(1.0 - 1.0 / mean, static_cast<double>(length - 1)) / mean;
    expected += probability * input_copy_iterations(copy, 3, Convention::bonus, length);
  }
  CHECK(input_copy_iterations_geometric(copy, 3, Convention::bonus, mean) == Approx(expected).epsilon(second_route));
  CHECK(input_copy_iterations_geometric(copy, 3, Convention::bonus, 1.0) == 1.0);
}

TEST_CASE("without realigning, copying is i.i.d. acceptance, and without edits every draft is accepted") {
  for (const std::int64_t gamma : {1, 8}) {
    CHECK(input_copy({0.3, 0}, gamma, Convention::bonus).tokens ==
          Approx(tokens_per_iteration({0.7, gamma, Convention::bonus})).epsilon(second_route));
    CHECK(input_copy({0.0, 5}, gamma, Convention::bonus).tokens == static_cast<double>(gamma + 1));
    CHECK(input_copy({0.0, 5}, gamma, Convention::bonus).mean_gamma == static_cast<double>(gamma));
    CHECK(input_copy({1.0, 5}, gamma, Convention::bonus).tokens == 1.0);
  }
  // Realigning iterations draft nothing: one in three here.
  CHECK(input_copy({1.0, 2}, 6, Convention::bonus).mean_gamma == Approx(2.0));
  CHECK(input_copy({1.0, 2}, 6, Convention::no_bonus).mean_gamma == Approx((6.0 + 2.0) / 3.0));
}

TEST_CASE("acceptance falls by one factor per position, and by less if a stage uses the token before") {
  const std::vector<double> conditional = decaying_acceptance(0.9, 0.5, 4);
  CHECK(conditional == std::vector<double>{0.9, 0.45, 0.225, 0.1125});
  CHECK(decaying_acceptance(0.7, 1.0, 3) == std::vector<double>{0.7, 0.7, 0.7});
  CHECK(recovered_decay(0.25, 0.5) == Approx(0.5));
  CHECK(recovered_decay(0.25, 0.0) == 0.25);
  CHECK(recovered_decay(0.25, 1.0) == 1.0);
  CHECK(recovered_decay(0.0, 1.0) == 1.0);
  CHECK(last_useful_draft(0.0, 0.5) == 1);
  CHECK(last_useful_draft(0.5, 1.0) == 67);  // 2^-67 is the first power below 1e-20
  CHECK(last_useful_draft(1.0, 1.0) == 100'000);
}

}  // namespace foredraft::analytic
