// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/verification_surface.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/latency/surfaces/modelled_profile.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::latency {
namespace {

constexpr std::int64_t vocabulary = 1000;
const Setting fp32_eager{.dtype = "fp32", .cache = Cache::cold, .launch = Launch::eager};

VerificationCell fused_cell(std::int64_t batch, std::int64_t gamma, std::int64_t of_vocabulary = vocabulary) {
  return {.verifier = "fused_exact",
          .dtype = "fp32",
          .batch = batch,
          .gamma = gamma,
          .vocabulary = of_vocabulary,
          .logits = "real_like",
          .cache = Cache::hot,
          .launch = Launch::eager};
}

/// Draws of 10 us and 34 us for 1 and 4 rows; a draft verified in 50 us, four in 110 us.
Profile measured_profile() {
  Profile profile{.source = Source::measured, .identity = {}, .device = {}, .limits = {}};
  for (const auto& [batch, gamma, us] : {std::tuple{1, 0, 10.0}, {4, 0, 34.0}, {1, 1, 50.0}, {1, 4, 110.0}}) {
    profile.verifications.push_back(tests::sampling_row(fused_cell(batch, gamma), us));
  }
  return profile;
}

double us_at(const VerificationSurface& surface, std::int64_t batch, std::int64_t gamma) {
  return surface.at(batch, gamma).value().time_us;
}

}  // namespace

TEST_CASE("draws and verifications have their measured times, and separate straight lines between them") {
  const VerificationSurface surface(measured_profile(), fp32_eager, vocabulary);
  const Latency exact = surface.at(4, 0).value();
  CHECK(exact.time_us == 34.0);
  CHECK(exact.origin == Origin::measured);
  CHECK(exact.spread.value() == Approx(0.004).epsilon(foredraft::tests::second_route));
  // Halfway between 3,000 elements and 9,000; a third between 1,000 and 4,000.
  CHECK(us_at(surface, 2, 1) == Approx(80.0).epsilon(foredraft::tests::few_ulp));
  CHECK(us_at(surface, 2, 0) == Approx(18.0).epsilon(foredraft::tests::few_ulp));
  CHECK(surface.at(2, 0)->origin == Origin::interpolated);
  CHECK(surface.at(2, 0)->inside);
  // The line continues beyond the largest, and the result says so.
  CHECK(us_at(surface, 8, 0) == Approx(66.0).epsilon(foredraft::tests::few_ulp));
  CHECK_FALSE(surface.at(8, 0)->inside);
}

TEST_CASE("the A/A difference is a verification's spread if it is wider than its own") {
  Profile profile = measured_profile();
  profile.aa_test = AgainstItself{.pairs = 10, .median_difference = 0.004, .p95_difference = 0.03};
  CHECK(VerificationSurface(profile, fp32_eager, vocabulary).at(1, 4)->spread.value() ==
        Approx(0.03 / std::sqrt(2.0)).epsilon(foredraft::tests::second_route));
}

TEST_CASE("an unmeasured vocabulary follows the line of all rows, never below 0") {
  Profile profile = measured_profile();
  const VerificationSurface surface(profile, fp32_eager, 2000);
  CHECK(us_at(surface, 1, 0) == Approx(30.0).epsilon(foredraft::tests::few_ulp));  // of 1,000 and 3,000 elements
  CHECK(us_at(VerificationSurface(profile, fp32_eager, 10), 1, 0) == 0.0);
  // Two rows of 4,000 elements count as their mean.
  profile.verifications.push_back(tests::sampling_row(fused_cell(2, 0, 2000), 36.0));
  CHECK(us_at(VerificationSurface(profile, fp32_eager, 4000), 1, 0) == Approx(35.0).epsilon(foredraft::tests::few_ulp));
}

TEST_CASE("a row whose bytes are those of fewer drafts gives no time") {
  Profile profile = measured_profile();
  constexpr double bytes_of_a_row = 4.0 * vocabulary;  // fp32
  for (VerificationRow& row : profile.verifications) {
    row.timing.read_bytes = static_cast<double>(row.cell.batch * (row.cell.gamma + 1)) * bytes_of_a_row;
  }
  const VerificationSurface believed(profile, fp32_eager, vocabulary);
  CHECK(believed.at(1, 1)->time_us == 50.0);
  CHECK(believed.at(1, 4)->time_us == 110.0);
  CHECK_FALSE(ignored_verifications(profile));
  for (VerificationRow& row : profile.verifications) {
    if (row.cell.gamma > 0) row.timing.read_bytes -= bytes_of_a_row;
  }
  // The line of the draws: 10 us for 1,000 elements, 34 us for 4,000.
  const VerificationSurface surface(profile, fp32_eager, vocabulary);
  CHECK(us_at(surface, 1, 1) == Approx(26.0).epsilon(foredraft::tests::few_ulp));
  CHECK(surface.at(1, 1)->origin == Origin::interpolated);
  CHECK_FALSE(surface.at(1, 4)->inside);
  CHECK(surface.at(4, 0)->time_us == 34.0);
  CHECK_THAT(ignored_verifications(profile).value_or(""),
             Catch::Contains("2 of 4 rows") && Catch::Contains("gamma 1, 4:"));
}

TEST_CASE("without draws of two sizes they follow the line of all rows, as profiles of GPUs have it") {
  Profile profile = measured_profile();
  std::erase_if(profile.verifications, [](const VerificationRow& row) { return row.cell.gamma == 0; });
  // 50 us for 3,000 elements and 10 us for each 1,000 more: 30 us are left for one row.
  CHECK(us_at(VerificationSurface(profile, fp32_eager, vocabulary), 1, 0) ==
        Approx(30.0).epsilon(foredraft::tests::few_ulp));
}

TEST_CASE("rows of another verifier, type, launch, cache or kind of logits give no time, nor does a single size") {
  const Profile profile = measured_profile();
  const auto says_nothing = [&](auto&& change) {
    Profile other = profile;
    for (VerificationRow& row : other.verifications) change(row.cell);
    return !VerificationSurface(other, fp32_eager, vocabulary).at(1, 1);
  };
  CHECK_FALSE(says_nothing([](VerificationCell&) {}));
  CHECK(says_nothing([](VerificationCell& cell) { cell.verifier = "hf_reference"; }));
  CHECK(says_nothing([](VerificationCell& cell) { cell.dtype = "fp16"; }));
  CHECK(says_nothing([](VerificationCell& cell) { cell.launch = Launch::graph; }));
  CHECK(says_nothing([](VerificationCell& cell) { cell.cache = Cache::cold; }));
  CHECK(says_nothing([](VerificationCell& cell) { cell.logits = "flat"; }));
  Profile single = profile;
  single.verifications.resize(1);
  CHECK_FALSE(VerificationSurface(single, fp32_eager, vocabulary).at(3, 2));
}

}  // namespace foredraft::latency
