// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/check.hpp"
#include "sim/token/rows/half_precision.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/rule_definition.hpp"

namespace foredraft::sim::rules {
namespace {

/// A floating-point format in which every elementary operation is rounded.
enum class Format { half, single, full };

double rounded(double value, Format format) {
  switch (format) {
    case Format::half:
      return round_to_half(value);
    case Format::single:
      return static_cast<double>(static_cast<float>(value));
    case Format::full:
      break;
  }
  return value;
}

struct SigmoidScale {
  double low;   ///< a
  double high;  ///< b > a
  double shift;
  Format format;
};

/// Rejection sampling on sigmoids of scaled logits instead of probabilities, which spares the two softmax passes:
/// p^ = sigma((z_p - a) / (b - a)), the same for q, acceptance min(1, p^ / q^), residual max(0, p^ - q^), normalised
/// [Wagner2024, Eq. 5]. p^ and q^ do not sum to 1, so the emitted law is not p: the wider b - a, the closer all values
/// and the more is accepted of whatever is drafted. A rule sees log p, that is logits up to a constant of the row, and
/// adds `shift` to it. Where p^ <= q^ everywhere a rejection leaves nothing to draw from: then a token of p is drawn.
class SigmoidApproximation final : public VerificationRule {
 public:
  explicit SigmoidApproximation(const SigmoidScale& scale)
      : scale_(scale),
        low_(rounded(scale.low, scale.format)),
        width_(round(rounded(scale.high, scale.format) - low_)) {}

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double /*row_statistic*/) const override {
    const double p = sigmoid(drafted.target);
    const double q = sigmoid(drafted.draft);
    if (!(p > 0.0)) return 0.0;  // U q < 0 never holds, q = 0 included
    return p >= q ? 1.0 : round(p / q);
  }

  void replacement(const PositionLaws& laws, std::span<double> law) const override {
    for (std::size_t x = 0; x < law.size(); ++x) {
      law[x] = std::max(0.0, round(sigmoid(laws.target[x]) - sigmoid(laws.draft[x])));
    }
    if (!normalise(law)) std::copy(laws.target.begin(), laws.target.end(), law.begin());
  }

 private:
  [[nodiscard]] double round(double value) const { return rounded(value, scale_.format); }

  /// Probability 0 is the logit -infinity, whose sigmoid is 0.
  [[nodiscard]] double sigmoid(double probability) const {
    const double logit = round(std::log(probability) + scale_.shift);
    const double scaled = round(round(logit - low_) / width_);
    return round(1.0 / round(1.0 + round(std::exp(-scaled))));
  }

  SigmoidScale scale_;
  double low_;
  double width_;
};

Format format_of(double bits) {
  if (bits == 16.0) return Format::half;
  if (bits == 32.0) return Format::single;
  if (bits == 64.0) return Format::full;
  throw DomainError(fmt::format("invalid rule.bits={} (must be 16, 32 or 64)", bits));
}

SigmoidScale checked_scale(const RuleParameters& parameters) {
  const SigmoidScale scale{.low = parameters.at("scale_low"),
                           .high = parameters.at("scale_high"),
                           .shift = parameters.at("logit_shift"),
                           .format = format_of(parameters.at("bits"))};
  const double low = rounded(scale.low, scale.format);
  const double high = rounded(scale.high, scale.format);
  if (!(low < high)) {
    throw DomainError(fmt::format("invalid rule.scale_low={} (must be below rule.scale_high={} in {} bits)", scale.low,
                                  scale.high, parameters.at("bits")));
  }
  if (std::isinf(low) || std::isinf(high)) {
    throw DomainError(fmt::format("invalid rule.scale_{}={} (must lie within 65504 of 0 in 16 bits)",
                                  std::isinf(low) ? "low" : "high", std::isinf(low) ? scale.low : scale.high));
  }
  return scale;
}

}  // namespace

RuleDefinition sigmoid_approximation() {
  constexpr double largest = 1e6;
  return {
      .entry = {.name = "sigmoid_approximation",
                .summary = "rejection sampling on sigmoids of scaled logits instead of probabilities",
                .source = "Wagner2024, Eq. 5",
                .lossless = false,
                .parameters = {{.name = "scale_low",
                                .default_value = -10.0,
                                .minimum = -largest,
                                .maximum = largest,
                                .summary = "sigmoid_approximation: a in sigma((z - a) / (b - a))"},
                               {.name = "scale_high",
                                .default_value = 10.0,
                                .minimum = -largest,
                                .maximum = largest,
                                .summary = "sigmoid_approximation: b, above a"},
                               {.name = "logit_shift",
                                .default_value = 0.0,
                                .minimum = -largest,
                                .maximum = largest,
                                .summary =
                                    "sigmoid_approximation: added to log p and log q, to make them the models' logits"},
                               {.name = "bits",
                                .default_value = 64.0,
                                .minimum = 16.0,
                                .maximum = 64.0,
                                .summary = "sigmoid_approximation: width of the arithmetic: 16, 32 or 64",
                                .whole = true}}},
      .make = [](const RuleParameters& parameters) -> std::unique_ptr<const VerificationRule> {
        return std::make_unique<SigmoidApproximation>(checked_scale(parameters));
      }};
}

}  // namespace foredraft::sim::rules
