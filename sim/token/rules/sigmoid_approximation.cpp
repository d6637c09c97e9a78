// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/numbers.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/verification_rule.hpp"

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

/// Rejection sampling on sigmoids of scaled logits instead of probabilities, which saves the two softmax passes: p^ =
/// sigma((z_p - a) / (b - a)), the same for q, acceptance min(1, p^ / q^), residual max(0, p^ - q^), normalized
/// [Wagner2024, Eq. 5]. p^ and q^ do not sum to 1, so the emitted distribution is not p: the wider b - a, the closer
/// all values and the higher the acceptance of any draft. A rule knows log p, that is logits up to a constant of the
/// row, and adds `shift` to it. If p^ <= q^ everywhere, the residual is empty after a rejection: then a token of p is
/// drawn.
class SigmoidApproximationRule final : public VerificationRule {
 public:
  explicit SigmoidApproximationRule(const SigmoidScale& scale)
      : scale_(scale),
        low_(rounded(scale.low, scale.format)),
        width_(round(rounded(scale.high, scale.format) - low_)) {}

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double /*row_statistic*/) const override {
    const double p = sigmoid(drafted.target);
    const double q = sigmoid(drafted.draft);
    if (!(p > 0.0)) return 0.0;  // U q < 0 never holds, including q = 0
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

Format format_of(std::int64_t bits) {
  if (bits == 16) return Format::half;
  return bits == 32 ? Format::single : Format::full;
}

}  // namespace

MadeRule make(const SigmoidApproximation& rule) {
  return std::make_unique<SigmoidApproximationRule>(SigmoidScale{
      .low = rule.scale_low, .high = rule.scale_high, .shift = rule.logit_shift, .format = format_of(rule.bits)});
}

}  // namespace foredraft::sim::rules
