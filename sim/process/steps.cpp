#include "sim/process/steps.hpp"

#include <boost/random/gamma_distribution.hpp>
#include <cmath>

namespace foredraft::sim {
namespace {

/// Logarithm of a Gamma(shape) variate, from Gamma(shape) = Gamma(shape + 1) U^(1/shape) [Marsaglia2000, p. 371]; the
/// variate itself underflows for small shapes.
double log_gamma_variate(double shape, RandomStream& random) {
  boost::random::gamma_distribution<double> gamma(shape + 1.0);
  return std::log(gamma(random)) + std::log(1.0 - random.uniform()) / shape;
}

}  // namespace

SurvivalRow::SurvivalRow(Thresholds survival) : survival_(std::move(survival)) {
  std::uint32_t above = 0;
  for (std::size_t byte = from_byte_.size(); byte-- > 0;) {
    while (above < survival_.size() && survival_.high[above] >= byte * 256) ++above;
    from_byte_[byte] = above;
  }
  constexpr std::uint32_t no_draw = 0xffffffff;
  survival_.push_back({.high = no_draw, .low = 0});
}

BetaVariate draw_beta(const BetaMixture& law, RandomStream& random, std::uint64_t place) {
  // Each attempt of the two rejection samplers takes one draw and more than half of them succeed, so that a variate
  // would need 2^-100 of luck to leave its own stretch of the stream.
  constexpr std::uint64_t stretch = 256;
  random.seek(place * stretch);
  const double log_x = log_gamma_variate(law.a, random);
  const double log_y = log_gamma_variate(law.b, random);
  return {1.0 / (1.0 + std::exp(log_y - log_x)), 1.0 / (1.0 + std::exp(log_x - log_y))};
}

}  // namespace foredraft::sim
