// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/cost_surface.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <numbers>
#include <set>
#include <utility>

#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "latency/surfaces/fit_latency.hpp"
#include "latency/surfaces/forward_pass_work.hpp"

namespace foredraft::latency {
namespace {

const ModelShape* shape_of(const std::vector<ModelShape>& shapes, const std::string& name) {
  const auto found =
      std::find_if(shapes.begin(), shapes.end(), [&](const ModelShape& shape) { return shape.name == name; });
  return found == shapes.end() ? nullptr : &*found;
}

std::vector<StepTable::Row> rows_of(const Profile& profile, const ForwardPassKind& kind, std::int64_t source_length) {
  std::vector<StepTable::Row> rows;
  for (const StepRow& row : profile.steps) {
    const Cell& cell = row.cell;
    const bool same = cell.model == kind.model && cell.role == kind.role && cell.source_length == source_length &&
                      Setting{cell.dtype, cell.cache, cell.launch} == kind.setting;
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

/// The passes that the profile has of a model: "decoder_pass fp16, ...".
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
  std::vector<std::string> known;
  for (const StepRow& row : profile.steps) known.push_back(row.cell.model);
  if (std::find(known.begin(), known.end(), name) != known.end()) {
    const std::string kinds = measured_kinds(profile, name);
    throw DomainError(
        fmt::format("no times for {} (the profile of {} has {} of this model, and its shape is not known) "
                    "- measure it",
                    name_of(kind), profile.device.name, kinds.empty() ? "no times" : kinds));
  }
  for (const ModelShape& shape : shapes) known.push_back(shape.name);
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  throw DomainError(
      fmt::format("unknown model \"{}\" (neither the profile of {} nor the shapes of models have it) - {}", name,
                  profile.device.name, suggestion_for(name, known)));
}

Deployment deployment_in(std::string_view dtype) {
  const std::optional<NumberFormat> format = number_format(dtype);
  if (!format) throw DomainError(fmt::format("unknown dtype {}", dtype));
  return {.weights = *format, .kv_cache = *format};
}

/// Its limits, and a launch per operator if the sheet states its cost.
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
  return {cell.dtype, cell.cache, cell.launch};
}

CostSurface::CostSurface(const Profile& profile, const std::vector<ModelShape>& shapes, ForwardPassKind kind,
                         const SheetPass& sheet)
    : kind_(std::move(kind)),
      spread_known_(profile.source == Source::measured || profile.step_error.value),
      sheet_pass_(sheet) {
  const ModelShape* shape = shape_of(shapes, kind_.model);
  std::int64_t source_length = kind_.source_length;
  if (source_length == 0 && shape != nullptr) source_length = shape->source_length;
  std::vector<StepTable::Row> rows = rows_of(profile, kind_, source_length);
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
    sheet_.emplace(*shape, kind_.role, kind_.source_length,
                   sheet_pass_.deployment.value_or(deployment_in(kind_.setting.dtype)),
                   peaks_of(profile.device, profile.limits));
    if (!sheet_pass_.attained) sheet_pass_.attained = floor_of(profile.limits);
    return;
  }
  work_.emplace(*shape, kind_.role, data_type_of(kind_.setting.dtype), kind_.source_length);
  const auto fit = std::find_if(profile.fits.begin(), profile.fits.end(), [&](const LatencyFit& one) {
    return Setting{one.dtype, one.cache, one.launch} == kind_.setting;
  });
  if (fit != profile.fits.end()) {
    fit_ = *fit;
  } else if (!table_) {
    fit_ = fit_latency(profile, shapes, kind_.setting, 0);
  }
  if (!table_) return;
  shape_ = fit_ ? fit_->model : roofline(profile.limits, kind_.setting.dtype);
  if (!shape_) return;
  for (StepTable::Row& row : rows) row.time_us /= pass_us(*shape_, *work_, row.point);
  table_.emplace(std::move(rows));
}

bool CostSurface::inside(const ForwardPassPoint& point) const {
  const auto within = [](const Interval& range, double value) { return range.low <= value && value <= range.high; };
  const FitDomain& domain = fit_->domain;
  return within(domain.rows, work_->rows(point)) && within(domain.context, static_cast<double>(point.context)) &&
         within(domain.product_bytes, work_->min_product_bytes()) &&
         within(domain.product_bytes, work_->max_product_bytes());
}

std::optional<Latency> CostSurface::measured_at(const ForwardPassPoint& point) const {
  if (!table_) return std::nullopt;
  const std::optional<StepTable::Answer> found = table_->at(point);
  if (!found) return std::nullopt;
  return Latency{.time_us = found->time_us * (shape_ ? pass_us(*shape_, *work_, point) : 1.0),
                 .spread = spread_known_ ? std::optional(found->spread) : std::nullopt,
                 .origin = found->measured ? Origin::measured : Origin::interpolated};
}

Latency CostSurface::at(const ForwardPassPoint& point) const {
  if (const std::optional<Latency> found = measured_at(point)) return *found;
  if (fit_) {
    return {.time_us = pass_us(fit_->model, *work_, point),
            .spread = fit_->held_out.p95,
            .origin = Origin::fitted,
            .inside = inside(point)};
  }
  if (sheet_) {
    return {
        .time_us = sheet_->us(point, *sheet_pass_.attained), .spread = sheet_pass_.spread, .origin = Origin::roofline};
  }
  throw DomainError(
      fmt::format("{}: no time for batch {}, {} tokens and context {} ({}) - measure it, or ask within {}",
                  name_of(kind_), point.batch, point.tokens, point.context,
                  table_ ? "outside of what the profile measured" : "the profile has no times for it",
                  table_ ? "the table" : "the models of the profile"));
}

}  // namespace foredraft::latency

namespace foredraft {

std::string_view to_string(TimeOrigin origin) {
  constexpr auto words = std::to_array<std::string_view>({"measured", "interpolated", "fitted", "roofline"});
  return words.at(static_cast<std::size_t>(origin));
}

}  // namespace foredraft

namespace foredraft::latency {
namespace {

/// Whether a program can compute passes of this model, stored and split in this way.
bool has_program(const ModelShape& shape, const Deployment& deployment) {
  const bool plain = deployment.weights == NumberFormat::fp32 || deployment.weights == NumberFormat::bf16 ||
                     deployment.weights == NumberFormat::fp16;
  return plain && deployment.kv_cache == deployment.weights && deployment.tensor_parallel == 1 &&
         shape.window.layers == 0 && !why_not_runnable(shape);
}

}  // namespace

SheetSurface::SheetSurface(const ModelShape& shape, Role role, std::int64_t source_length, const Deployment& deployment,
                           DevicePeaks peaks)
    : shape_(shape), role_(role), deployment_(deployment), peaks_(std::move(peaks)) {
  if (has_program(shape, deployment)) {
    work_.emplace(shape, role, data_type_of(to_string(deployment.weights)), source_length);
    return;
  }
  const bool one_by_one = role == Role::decoder_pass || role == Role::autoregressive_drafting;
  if (one_by_one && shape.architecture != Architecture::encoder_decoder) return;
  throw DomainError(
      fmt::format("{} {}: not known for this model and format (only dense models in fp32, bf16 or fp16 on one device)",
                  shape.name, to_string(role)));
}

double SheetSurface::us(const ForwardPassPoint& point, const Attained& attained) const {
  const bool drafts = role_ == Role::autoregressive_drafting;
  if (shape_.max_context > 0 && point.context + point.tokens > shape_.max_context) {
    throw DomainError(
        fmt::format("{}: context {} and {} new tokens exceed the {} positions of the model - ask for less", shape_.name,
                    point.context, point.tokens, shape_.max_context));
  }
  if (work_) {
    const double passes = drafts ? static_cast<double>(point.tokens) : 1.0;
    return passes * attained.step_us + pass_us(latency_model(peaks_, deployment_.weights, attained), *work_, point);
  }
  const std::int64_t devices = deployment_.tensor_parallel;
  if (!drafts) {
    const StepPoint step{.batch = point.batch, .tokens = point.tokens, .context = point.context};
    return step_us(step_operations(shape_, deployment_, step), devices, peaks_, attained);
  }
  double sum_us = 0.0;
  for (std::int64_t draft = 0; draft < point.tokens; ++draft) {
    sum_us += step_us(draft_step_operations(shape_, deployment_, point.batch, point.context, draft), devices, peaks_,
                      attained);
  }
  return sum_us;
}

}  // namespace foredraft::latency
