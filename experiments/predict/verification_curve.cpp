// SPDX-License-Identifier: Apache-2.0
#include "experiments/predict/verification_curve.hpp"

#include <algorithm>
#include <cmath>

#include "foredraft/errors.hpp"
#include "latency/models/model_registry.hpp"

namespace foredraft::experiments {
namespace {

/// Where it takes this many times the pass of one token, nobody asks any more.
constexpr double clear_growth = 4.0;
constexpr std::int64_t max_pass_tokens = 1024;

/// The next after `tokens`: every count up to `dense`, then powers of two and halfway between them.
std::int64_t next_tokens(std::int64_t tokens, std::int64_t dense) {
  if (tokens < dense) return tokens + 1;
  for (std::int64_t power = 1;; power *= 2) {
    if (power > tokens) return power;
    if (power + power / 2 > tokens) return power + power / 2;
  }
}

VerificationCurve curve_of(const ProfileQuestion& question, const latency::PairSurface& pair, std::int64_t batch,
                           std::int64_t context) {
  VerificationCurve curve{.batch = batch, .context = context};
  const std::int64_t needed = max_tokens(max_drafts(question), question.convention);
  const latency::Latency plain = pair.target_pass(1, batch, context);
  for (std::int64_t tokens = 1; tokens <= std::max(needed, max_pass_tokens); tokens = next_tokens(tokens, needed)) {
    const bool further = tokens > needed;
    if (further && curve.points.back().growth > clear_growth) break;
    std::optional<latency::Latency> pass;
    try {
      pass = pair.target_pass(tokens, batch, context);
    } catch (const DomainError&) {
      if (!further) throw;
    }
    if (!pass || (further && !pass->inside)) break;
    std::optional<double> spread;
    if (plain.spread && pass->spread) spread = tokens == 1 ? 0.0 : std::hypot(*plain.spread, *pass->spread);
    curve.points.push_back({tokens, *pass, pass->time_us / plain.time_us, spread});
  }
  return curve;
}

}  // namespace

std::vector<VerificationCurve> verification_curves(const ProfileQuestion& question, const latency::Profile& profile) {
  const latency::PairSurface pair = pair_surface_of(question, profile);
  std::vector<VerificationCurve> curves;
  for (const std::int64_t context : question.contexts) {
    for (const std::int64_t batch : question.batches) curves.push_back(curve_of(question, pair, batch, context));
  }
  return curves;
}

std::optional<double> knee_tokens(const VerificationCurve& curve) {
  const auto above = std::find_if(curve.points.begin(), curve.points.end(),
                                  [](const VerificationCurve::Point& point) { return point.growth > knee_growth; });
  if (above == curve.points.end()) return std::nullopt;
  const VerificationCurve::Point& below = *(above - 1);  // the first point grows by 1
  const double share = std::log(knee_growth / below.growth) / std::log(above->growth / below.growth);
  const auto low = static_cast<double>(below.tokens);
  return low * std::pow(static_cast<double>(above->tokens) / low, share);
}

}  // namespace foredraft::experiments
