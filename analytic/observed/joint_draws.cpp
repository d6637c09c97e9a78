// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/joint_draws.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/policies/policy.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>

#include "core/check.hpp"
#include "core/random_stream.hpp"

namespace foredraft::analytic {
namespace {

constexpr std::uint64_t seed = 0;
/// Clusters whose indices differ by a multiple of this share a normal variate, which limits the time for many requests.
constexpr std::size_t max_multipliers = 256;

/// Contribution of one source to one estimate.
struct Share {
  std::size_t estimate;
  std::vector<double> weights;  ///< of the multipliers; the sum of squares is the squared relative standard error
  double degrees;
};

Share share_of(std::size_t number, const ErrorSource& source, double value) {
  const Uncertainty error = uncertainty_of(source);
  Share share{.estimate = number,
              .weights = std::vector<double>(std::min(source.influence.size(), max_multipliers)),
              .degrees = error.degrees};
  for (std::size_t i = 0; i < source.influence.size(); ++i) {
    share.weights[i % max_multipliers] += source.influence[i];
  }
  const double length =
      std::sqrt(std::inner_product(share.weights.begin(), share.weights.end(), share.weights.begin(), 0.0));
  for (double& weight : share.weights) weight *= length > 0.0 ? error.standard_error / (length * value) : 0.0;
  return share;
}

/// The shares of each source, by source id.
std::map<std::size_t, std::vector<Share>> shares_by_source(std::span<const ClusteredEstimate> estimates) {
  std::map<std::size_t, std::vector<Share>> shares;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    check_positive("estimate", estimates[i].value);
    for (const ErrorSource& source : estimates[i].sources) {
      shares[source.id].push_back(share_of(i, source, estimates[i].value));
    }
  }
  return shares;
}

/// Standard normal variates in pairs: the polar method [Marsaglia1964].
void fill_normals(RandomStream& random, std::span<double> normals) {
  for (std::size_t i = 0; i < normals.size(); i += 2) {
    double x = 0.0;
    double y = 0.0;
    double square = 0.0;
    while (!(square > 0.0 && square < 1.0)) {
      x = 2.0 * random.uniform() - 1.0;
      y = 2.0 * random.uniform() - 1.0;
      square = x * x + y * y;
    }
    const double scale = std::sqrt(-2.0 * std::log(square) / square);
    normals[i] = scale * x;
    if (i + 1 < normals.size()) normals[i + 1] = scale * y;
  }
}

/// Factor that turns a normal variate into one of Student's distribution. All estimates of a source use the same
/// `probability`.
double student_spread(double degrees, double probability) {
  if (std::isinf(degrees)) return 1.0;
  using InDoubles = boost::math::policies::policy<boost::math::policies::promote_double<false>>;  // long double is slow
  const boost::math::chi_squared_distribution<double, InDoubles> distribution(degrees);
  return std::sqrt(degrees / boost::math::quantile(distribution, probability));
}

void add_errors(std::size_t id, std::span<const Share> shares, std::vector<std::vector<double>>& errors) {
  std::vector<double> normals;
  for (const Share& share : shares) normals.resize(std::max(normals.size(), share.weights.size()));
  const std::size_t draws = errors.front().size();
  for (std::size_t draw = 0; draw < draws; draw += 2) {
    RandomStream random(seed, {.purpose = Purpose::estimate_errors, .point = id, .block = draw});
    const double probability = std::max(random.uniform(), 0x1.0p-54);
    fill_normals(random, normals);
    for (const Share& share : shares) {
      const double error = student_spread(share.degrees, probability) *
                           std::inner_product(share.weights.begin(), share.weights.end(), normals.begin(), 0.0);
      errors[share.estimate][draw] += error;
      if (draw + 1 < draws) errors[share.estimate][draw + 1] -= error;
    }
  }
}

}  // namespace

std::vector<std::vector<double>> joint_draws(std::span<const ClusteredEstimate> estimates, std::size_t draws) {
  constexpr double max_error = 100.0;
  std::vector<std::vector<double>> drawn(estimates.size(), std::vector<double>(draws));
  for (const auto& [id, shares] : shares_by_source(estimates)) add_errors(id, shares, drawn);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    for (double& one : drawn[i]) one = estimates[i].value * std::exp(std::clamp(one, -max_error, max_error));
  }
  return drawn;
}

}  // namespace foredraft::analytic
