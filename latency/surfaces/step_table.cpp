// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/step_table.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <tuple>

#include "foredraft/errors.hpp"
#include "latency/profile/measurement.hpp"

namespace foredraft::latency {
namespace {

double mixed(double low, double high, double share) { return low + share * (high - low); }

auto order_of(const StepTable::Row& row) { return std::tuple(row.point.context, row.point.batch, row.point.tokens); }

}  // namespace

StepTable::StepTable(std::vector<Row> rows) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return order_of(a) < order_of(b); });
  for (const Row& row : rows) {
    const auto context = static_cast<double>(row.point.context);
    const auto batch = static_cast<double>(row.point.batch);
    const auto tokens = static_cast<double>(row.point.tokens);
    if (contexts_.empty() || contexts_.back().count != context) contexts_.push_back({context, {}});
    std::vector<Batch>& batches = contexts_.back().batches;
    if (batches.empty() || batches.back().count != batch) batches.push_back({batch, std::log(batch), {}});
    // An encoder's pass has no new tokens, so its curve has one point.
    batches.back().curve.push_back({tokens, std::log(std::max(tokens, 1.0)), std::log(row.time_us), row.spread});
  }
  interpolation_error_ = error_of_interpolation();
}

std::optional<StepTable::Found> StepTable::on_curve(const Curve& curve, double count, double log_count) {
  const auto above = std::lower_bound(curve.begin(), curve.end(), count,
                                      [](const Anchor& anchor, double wanted) { return anchor.count < wanted; });
  if (above == curve.end()) return std::nullopt;
  if (above->count == count) return Found{above->log_us, above->spread, true};
  if (above == curve.begin()) return std::nullopt;
  const Anchor& below = *(above - 1);
  const double share = (log_count - below.log_count) / (above->log_count - below.log_count);
  return Found{mixed(below.log_us, above->log_us, share), mixed(below.spread, above->spread, share), false};
}

std::optional<StepTable::Found> StepTable::in_context(const Context& context, double batch, double log_batch,
                                                      double tokens, double log_tokens) {
  const auto& batches = context.batches;
  const auto split = std::lower_bound(batches.begin(), batches.end(), batch,
                                      [](const Batch& entry, double wanted) { return entry.count < wanted; });
  std::optional<Found> high;
  auto above = split;
  for (; above != batches.end() && !high; ++above) high = on_curve(above->curve, tokens, log_tokens);
  if (!high) return std::nullopt;
  --above;
  if (above->count == batch) return high;
  std::optional<Found> low;
  auto below = split;
  while (below != batches.begin() && !low) low = on_curve((--below)->curve, tokens, log_tokens);
  if (!low) return std::nullopt;
  const double share = (log_batch - below->log_count) / (above->log_count - below->log_count);
  return Found{mixed(low->log_us, high->log_us, share), mixed(low->spread, high->spread, share), false};
}

std::optional<StepTable::Answer> StepTable::at(const ForwardPassPoint& point) const {
  const auto batch = static_cast<double>(point.batch);
  const auto tokens = static_cast<double>(point.tokens);
  const auto context = static_cast<double>(point.context);
  const double log_batch = std::log(batch);
  const double log_tokens = std::log(std::max(tokens, 1.0));
  const auto found_in = [&](const Context& entry) { return in_context(entry, batch, log_batch, tokens, log_tokens); };
  const auto split = std::lower_bound(contexts_.begin(), contexts_.end(), context,
                                      [](const Context& entry, double wanted) { return entry.count < wanted; });
  std::optional<Found> high;
  auto above = split;
  for (; above != contexts_.end() && !high; ++above) high = found_in(*above);
  if (!high) return std::nullopt;
  --above;
  if (above->count == context) {
    return Answer{std::exp(high->log_us),
                  high->measured ? high->spread : std::hypot(high->spread, interpolation_error_), high->measured};
  }
  std::optional<Found> low;
  auto below = split;
  while (below != contexts_.begin() && !low) low = found_in(*--below);
  if (!low) return std::nullopt;
  const double share = (context - below->count) / (above->count - below->count);
  return Answer{mixed(std::exp(low->log_us), std::exp(high->log_us), share),
                std::hypot(mixed(low->spread, high->spread, share), interpolation_error_), false};
}

void StepTable::reject_decrease(const std::string& name) const {
  const auto compare = [&](const Anchor& less, const Anchor& more, const std::string& what) {
    const double noise = std::hypot(less.spread, more.spread);
    if (more.log_us >= less.log_us + std::log1p(-largest_decrease) - noise) return;
    throw DomainError(fmt::format("{}: {:.5g} us for {} {} and {:.5g} us for {} (more work must not take less time)",
                                  name, std::exp(less.log_us), what, less.count, std::exp(more.log_us), more.count));
  };
  for (const Context& context : contexts_) {
    for (std::size_t i = 0; i < context.batches.size(); ++i) {
      const Batch& batch = context.batches[i];
      for (std::size_t j = 0; j < batch.curve.size(); ++j) {
        const Anchor& anchor = batch.curve[j];
        if (j > 0) {
          compare(batch.curve[j - 1], anchor, fmt::format("batch {} context {} tokens", batch.count, context.count));
        }
        if (i == 0) continue;
        const Curve& smaller = context.batches[i - 1].curve;
        const auto same = std::find_if(smaller.begin(), smaller.end(),
                                       [&](const Anchor& other) { return other.count == anchor.count; });
        if (same == smaller.end()) continue;
        Anchor less = *same;
        Anchor more = anchor;
        less.count = context.batches[i - 1].count;
        more.count = batch.count;
        compare(less, more, fmt::format("tokens {} context {} batch", anchor.count, context.count));
      }
    }
  }
}

double StepTable::error_of_interpolation() const {
  std::vector<double> errors;
  const auto add = [&](const Curve& curve) {
    for (std::size_t i = 1; i + 1 < curve.size(); ++i) {
      const Anchor& low = curve[i - 1];
      const Anchor& high = curve[i + 1];
      const double share = (curve[i].log_count - low.log_count) / (high.log_count - low.log_count);
      errors.push_back(std::abs(std::expm1(mixed(low.log_us, high.log_us, share) - curve[i].log_us)));
    }
  };
  for (const Context& context : contexts_) {
    std::vector<double> counts;
    for (const Batch& batch : context.batches) {
      add(batch.curve);
      for (const Anchor& anchor : batch.curve) counts.push_back(anchor.count);
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    for (const double tokens : counts) {
      Curve across;
      for (const Batch& batch : context.batches) {
        const auto same = std::find_if(batch.curve.begin(), batch.curve.end(),
                                       [&](const Anchor& anchor) { return anchor.count == tokens; });
        if (same != batch.curve.end()) across.push_back({batch.count, batch.log_count, same->log_us, same->spread});
      }
      add(across);
    }
  }
  if (errors.empty()) return 0.0;
  std::sort(errors.begin(), errors.end());
  return percentile(errors, 0.95);
}

}  // namespace foredraft::latency
