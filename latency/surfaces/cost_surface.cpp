// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/cost_surface.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <map>
#include <numbers>
#include <set>
#include <utility>

#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/surfaces/fit_latency.hpp"
#include "scenario/methods.hpp"

namespace foredraft::latency {
namespace {

std::vector<StepTable::Row> rows_of(const Profile& profile, const ForwardPassKind& kind, std::int64_t source_length) {
  std::vector<StepTable::Row> rows;
  for (const StepRow& row : profile.steps) {
    const Cell& cell = row.cell;
    const bool same = cell.model == kind.model && cell.role == kind.role && cell.source_length == source_length &&
                      setting_of(cell) == kind.setting;
    if (!same || row.timing.summary.samples == 0) continue;
    rows.push_back({.point = {cell.batch, cell.tokens, cell.context},
                    .time_us = row.timing.summary.median_us,
                    .spread = spread_of(row, profile)});
  }
  return rows;
}

double difference_of_halves(const Profile& profile) { return profile.aa_test ? profile.aa_test->p95_difference : 0.0; }

std::string name_of(const ForwardPassKind& kind) {
  return fmt::format("{} {} {}", kind.model, to_string(kind.role), kind.setting.dtype);
}

/// "1, 2, 4" for a few numbers, "1 to 9" for many or consecutive ones.
std::string counts_text(const std::set<std::int64_t>& counts) {
  constexpr std::size_t max_counts = 12;
  const std::int64_t first = *counts.begin(), last = *counts.rbegin();
  const auto size = static_cast<std::int64_t>(counts.size());
  const bool consecutive = size > 2 && last - first == size - 1;
  if (consecutive || counts.size() > max_counts) return fmt::format("{} to {}", first, last);
  return fmt::format("{}", fmt::join(counts, ", "));
}

/// Text in messages that says where there are times: "batch 1, 2, 4; tokens 1 to 9; context 512, 2048".
class Coverage {
 public:
  void add(const ForwardPassPoint& point) {
    batches_.insert(point.batch);
    tokens_.insert(point.tokens);
    contexts_.insert(point.context);
  }
  /// Requires at least one point.
  [[nodiscard]] std::string text() const {
    return fmt::format("batch {}; tokens {}; context {}", counts_text(batches_), counts_text(tokens_),
                       counts_text(contexts_));
  }

 private:
  std::set<std::int64_t> batches_, tokens_, contexts_;
};

std::string coverage_text(const std::vector<StepTable::Row>& rows) {
  Coverage coverage;
  for (const StepTable::Row& row : rows) coverage.add(row.point);
  return coverage.text();
}

/// Every kind of pass with times in the profile, and their coverage: "llama-3.1-8b decoder_pass (batch 1, ...)".
std::string coverage_text(const Profile& profile) {
  constexpr std::size_t max_kinds = 6;
  std::map<std::string, Coverage> kinds;
  for (const StepRow& row : profile.steps) {
    if (row.timing.summary.samples == 0) continue;
    const Cell& cell = row.cell;
    kinds[fmt::format("{} {}", cell.model, to_string(cell.role))].add({cell.batch, cell.tokens, cell.context});
  }
  std::vector<std::string> texts;
  for (const auto& [kind, coverage] : kinds) {
    if (texts.size() < max_kinds) texts.push_back(fmt::format("{} ({})", kind, coverage.text()));
  }
  if (kinds.size() > max_kinds) texts.push_back(fmt::format("and {} more", kinds.size() - max_kinds));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// The kinds of passes of a model in the profile: "decoder_pass fp16, ...".
std::string measured_kinds(const Profile& profile, const std::string& model) {
  std::set<std::string> kinds;
  for (const StepRow& row : profile.steps) {
    if (row.cell.model == model && row.timing.summary.samples > 0) {
      kinds.insert(fmt::format("{} {}", to_string(row.cell.role), row.cell.dtype));
    }
  }
  return fmt::format("{}", fmt::join(kinds, ", "));
}

[[noreturn]] void reject_model(const Profile& profile, const std::vector<ModelShape>& shapes,
                               const ForwardPassKind& kind) {
  const std::string& name = kind.model;
  std::set<std::string> timed;
  for (const StepRow& row : profile.steps) timed.insert(row.cell.model);
  if (timed.contains(name)) {
    const std::string kinds = measured_kinds(profile, name);
    throw DomainError(
        fmt::format("no times for {} (the profile of {} has {} of this model, and its shape is not known) "
                    "- measure it",
                    name_of(kind), profile.device.name, kinds.empty() ? "no times" : kinds));
  }
  const std::string of_profile = timed.empty() ? "" : fmt::format(", which has {},", fmt::join(timed, ", "));
  for (const ModelShape& shape : shapes) timed.insert(shape.name);
  throw DomainError(fmt::format(
      "unknown model \"{}\" (neither the profile of {}{} nor the shapes of models have it) - {}", name,
      profile.device.name, of_profile,
      scenario::method_or_suggestion(name, std::vector<std::string>(timed.begin(), timed.end()), "models")));
}

/// The limits, and a launch per operator if the sheet states its cost.
Attained floor_of(const Limits& limits) {
  Attained floor = data_sheet_limits();
  floor.operator_us = limits.graph_node_us.value.value_or(0.0);
  return floor;
}

}  // namespace

double spread_of(const StepRow& row, const Profile& profile) {
  return std::max({relative_spread(row.timing.summary), 0.5 * difference_of_halves(profile),
                   profile.step_error.value.value_or(0.0)});
}

double spread_of(const VerificationRow& row, const Profile& profile) {
  return std::max(relative_spread(row.timing.summary), difference_of_halves(profile) / std::numbers::sqrt2);
}

Setting setting_for(const Profile& profile, std::string_view target) {
  const auto first = std::find_if(profile.steps.begin(), profile.steps.end(), [&](const StepRow& row) {
    return row.cell.model == target && row.cell.role == Role::decoder_pass;
  });
  if (first == profile.steps.end() && profile.steps.empty()) return {.dtype = "fp16"};
  const Cell& cell = first == profile.steps.end() ? profile.steps.front().cell : first->cell;
  return setting_of(cell);
}

CostSurface::CostSurface(const Profile& profile, const std::vector<ModelShape>& shapes, ForwardPassKind kind,
                         const SheetPass& sheet)
    : kind_(std::move(kind)),
      spread_known_(profile.source == Source::measured || profile.step_error.value),
      sheet_pass_(sheet) {
  const ModelShape* shape = shape_named(shapes, kind_.model);
  std::int64_t source_length = kind_.source_length;
  if (source_length == 0 && shape != nullptr) source_length = shape->source_length;
  std::vector<StepTable::Row> rows = rows_of(profile, kind_, source_length);
  covered_ = rows.empty() ? coverage_text(profile) : coverage_text(rows);
  if (!rows.empty()) {
    table_.emplace(rows);
    table_->reject_decrease(name_of(kind_));
  }
  if (shape == nullptr) {
    if (!table_) reject_model(profile, shapes, kind_);
    return;
  }
  if (holds_steps_alone(profile.source)) return;
  if (profile.source == Source::datasheet) {
    operations_.emplace(*shape, kind_.role, sheet_pass_.deployment.value_or(deployment_in(kind_.setting.dtype)),
                        kind_.source_length);
    peaks_ = peaks_of(profile.device, profile.limits);
    if (!sheet_pass_.attained) sheet_pass_.attained = floor_of(profile.limits);
    return;
  }
  operations_ = measured_operations(*shape, kind_.role, kind_.setting.dtype, kind_.source_length);
  const auto fit = std::find_if(profile.fits.begin(), profile.fits.end(),
                                [&](const LatencyFit& one) { return setting_of(one) == kind_.setting; });
  if (fit != profile.fits.end()) {
    fit_ = *fit;
  } else if (!table_) {
    fit_ = fit_latency(profile, shapes, kind_.setting, 0);
  }
  if (!table_) return;
  shape_ = fit_ ? fit_->model : roofline(profile.limits, kind_.setting.dtype);
  if (!shape_) return;
  for (StepTable::Row& row : rows) row.time_us /= pass_us(*shape_, *operations_, row.point);
  table_.emplace(std::move(rows));
}

bool CostSurface::inside(const ForwardPassPoint& point) const {
  const auto within = [](const Interval& range, double value) { return range.low <= value && value <= range.high; };
  const FitDomain& domain = fit_->domain;
  const Interval product_bytes = operations_->product_bytes();
  return within(domain.rows, operations_->rows(point)) && within(domain.context, static_cast<double>(point.context)) &&
         within(domain.product_bytes, product_bytes.low) && within(domain.product_bytes, product_bytes.high);
}

std::optional<Latency> CostSurface::measured_at(const ForwardPassPoint& point) const {
  if (!table_) return std::nullopt;
  const std::optional<StepTable::Answer> found = table_->at(point);
  if (!found) return std::nullopt;
  return Latency{.time_us = found->time_us * (shape_ ? pass_us(*shape_, *operations_, point) : 1.0),
                 .spread = spread_known_ ? std::optional(found->spread) : std::nullopt,
                 .origin = found->measured ? Origin::measured : Origin::interpolated};
}

std::map<NumberFormat, NumberFormat> CostSurface::computed_in_others() const {
  std::map<NumberFormat, NumberFormat> others;
  if (!peaks_) return others;
  for (const StepOperator& one : operations_->operators({.batch = 1, .tokens = 1, .context = 0})) {
    const auto computed = computed_in(*peaks_, one.compute);
    if (one.flop > 0.0 && computed && *computed != one.compute) others[one.compute] = *computed;
  }
  return others;
}

Latency CostSurface::at(const ForwardPassPoint& asked) const {
  ForwardPassPoint point = asked;
  point.prompt = asked.prompt && peaks_;
  if (const std::optional<Latency> found = measured_at(point)) return *found;
  if (fit_) {
    return {.time_us = pass_us(fit_->model, *operations_, point),
            .spread = fit_->held_out.p95,
            .origin = Origin::fitted,
            .inside = inside(point)};
  }
  if (peaks_) {
    return {.time_us = pass_us(*operations_, point, *peaks_, *sheet_pass_.attained),
            .spread = sheet_pass_.spread,
            .origin = Origin::roofline};
  }
  throw DomainError(
      fmt::format("{}: no time for batch {}, {} tokens and context {} ({}) - measure it, or ask within {}",
                  name_of(kind_), point.batch, point.tokens, point.context,
                  table_ ? "outside of the profile's measured range" : "the profile has no times for it", covered_));
}

Latency CostSurface::mixed_at(const ForwardPassPoint& decoding, const ForwardPassPoint& prompt) const {
  if (peaks_) {
    return {.time_us = mixed_pass_us(*operations_, decoding, prompt, *peaks_, *sheet_pass_.attained),
            .spread = sheet_pass_.spread,
            .origin = Origin::roofline};
  }
  Latency latency = at(decoding);
  const std::int64_t decoded = decoding.batch * decoding.tokens;
  const auto pass_over = [&](std::int64_t tokens) {
    return at({.batch = 1, .tokens = tokens, .context = prompt.context, .prompt = true});
  };
  const Latency longer = pass_over(decoded + prompt.tokens);
  latency.time_us += std::max(0.0, longer.time_us - pass_over(decoded).time_us);
  latency.origin = std::max(latency.origin, longer.origin);
  latency.inside = latency.inside && longer.inside;
  return latency;
}

std::optional<PassParts> CostSurface::parts_at(const ForwardPassPoint& point) const {
  if (!peaks_) return std::nullopt;
  return pass_parts(*operations_, point, *peaks_, *sheet_pass_.attained);
}

}  // namespace foredraft::latency

namespace foredraft {

std::string_view to_string(TimeOrigin origin) {
  constexpr auto words = std::to_array<std::string_view>({"measured", "interpolated", "fitted", "roofline"});
  return words.at(static_cast<std::size_t>(origin));
}

}  // namespace foredraft
