// SPDX-License-Identifier: Apache-2.0
#include "latency/profile/profile.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <set>
#include <tuple>

#include "core/check.hpp"
#include "latency/profile/profile_fields.hpp"

namespace foredraft::latency {
namespace {

/// Larger than in any pass; sums and products of two counts fit into 64 bits.
constexpr std::int64_t max_cell_count = 1'000'000'000;

/// Checks the counts of a Cell or VerificationCell.
void check_counts(const std::string& what, const auto& cell) {
  visit_fields(cell, [&](std::string_view name, const auto& field) {
    if constexpr (std::same_as<decltype(field), const std::int64_t&>) {
      check_range(fmt::format("{}: {}", what, name), field, 0, max_cell_count);
    }
  });
}

void check_name(std::string_view what, const std::string& name) {
  if (name.empty()) throw DomainError(fmt::format("{}: empty name", what));
  if (name.find_first_of(",\"\n\r") != std::string::npos) {
    throw DomainError(fmt::format("{}: {}: a name must not hold commas, quotes or line ends", what, name));
  }
  if (name.find_first_of("=+-@") == 0) {
    throw DomainError(
        fmt::format("{}: {}: a name must not begin with = + - or @ (a spreadsheet would compute it)", what, name));
  }
}

void check_figures(const auto& figures) {
  visit_fields(figures, [](std::string_view name, const auto& field) {
    if constexpr (std::same_as<decltype(field), const Figure&>) {
      if (!field.value) return;
      check_positive(name, *field.value);
      if (field.origin.empty()) throw DomainError(fmt::format("{}: a figure without its origin", name));
    }
  });
}

void check_deployments(const Profile& profile) {
  if (profile.source != Source::operators && !profile.deployments.empty()) {
    throw DomainError(fmt::format("a profile of source {} has no deployments", to_string(profile.source)));
  }
  std::set<std::string> seen;
  for (const ModelDeployment& one : profile.deployments) {
    check_name("deployments: model", one.model);
    check_name("deployments: weights", one.weights);
    check_name("deployments: kv_cache", one.kv_cache);
    check_at_least("deployments: tensor_parallel", one.tensor_parallel, 1);
    if (!seen.insert(one.model).second) throw DomainError(fmt::format("deployments: {} is given twice", one.model));
  }
}

void check_step_error(const Profile& profile) {
  const Figure& error = profile.step_error;
  if (!error.value) return;
  if (profile.source != Source::engine && profile.source != Source::operators) {
    throw DomainError(fmt::format("a profile of source {} has no step_error", to_string(profile.source)));
  }
  check_positive("step_error", *error.value);
  if (*error.value >= 1.0) {
    throw DomainError(
        fmt::format("invalid step_error={} (half width divided by the time, must be below 1)", *error.value));
  }
  if (error.origin.empty()) throw DomainError("step_error: a figure without its origin");
}

void check_engine_loop(const Profile& profile) {
  if (!profile.engine_loop) return;
  if (profile.source != Source::engine) {
    throw DomainError(fmt::format("a profile of source {} has no engine_loop", to_string(profile.source)));
  }
  check_figures(*profile.engine_loop);
}

void check_timing(const std::string& what, const Timing& timing) {
  check_at_least(what + ": samples", timing.summary.samples, 0);
  check_at_least(what + ": throttled", timing.throttled, 0);
  check_nonnegative(what + ": read_bytes", timing.read_bytes);
  check_nonnegative(what + ": written_bytes", timing.written_bytes);
  check_nonnegative(what + ": flop", timing.flop);
  if (timing.summary.samples == 0) return;
  check_positive(what + ": median_us", timing.summary.median_us);
  check_positive(what + ": ci95_low_us", timing.summary.median_ci95_us.low);
  check_nonnegative(what + ": ci95_high_us", timing.summary.median_ci95_us.high);
  const Interval& ci95 = timing.summary.median_ci95_us;
  if (!(ci95.low <= timing.summary.median_us && timing.summary.median_us <= ci95.high)) {
    throw DomainError(fmt::format("{}: the median {} lies outside its interval {} to {}", what,
                                  timing.summary.median_us, ci95.low, ci95.high));
  }
}

void check_fit(const LatencyFit& fit) {
  check_name("fits: dtype", fit.dtype);
  const std::string what = "fits: " + fit.dtype;
  visit_fields(fit.model, [&](std::string_view name, double value) {
    if (name.ends_with("_us")) {
      check_nonnegative(fmt::format("{}: {}", what, name), value);
    } else {
      check_positive(fmt::format("{}: {}", what, name), value);
    }
  });
  check_at_least(what + ": rows", fit.held_out.rows, 1);
  check_nonnegative(what + ": p95", fit.held_out.p95);
}

void check_kernels(const Profile& profile) {
  std::set<std::tuple<std::string, std::string, std::string, Cache, Launch>> seen;
  for (const KernelRow& row : profile.kernels) {
    const std::string what = row.operation + " " + row.shape;
    check_name("operation", row.operation);
    check_name("shape", row.shape);
    check_timing(what, row.timing);
    if (!row.algorithm.empty()) check_name("algorithm", row.algorithm);
    if (!seen.insert({row.operation, row.shape, row.dtype, row.cache, row.launch}).second) {
      throw DomainError(fmt::format("{} {}: measured twice", what, row.dtype));
    }
  }
}

void check_verifications(const Profile& profile) {
  std::set<VerificationCell> seen;
  for (const VerificationRow& row : profile.verifications) {
    const std::string what = to_text(row.cell);
    check_name("verifier", row.cell.verifier);
    check_name("logits", row.cell.logits);
    check_counts(what, row.cell);
    check_timing(what, row.timing);
    check_at_least(what + ": launches", row.launches, 1);
    check_at_least(what + ": read_backs", row.read_backs, 0);
    check_nonnegative(what + ": requested_bytes", row.requested_bytes);
    check_nonnegative(what + ": memory_bytes", row.memory_bytes);
    if (!seen.insert(row.cell).second) throw DomainError(what + ": measured twice");
  }
}

void check_breakdowns(const Profile& profile) {
  std::set<Cell> seen;
  for (const Breakdown& breakdown : profile.breakdowns) {
    const std::string what = to_text(breakdown.cell);
    check_name("model", breakdown.cell.model);
    if (breakdown.parts.empty()) throw DomainError(what + ": a step without operations");
    if (!seen.insert(breakdown.cell).second) throw DomainError(what + ": measured by operation twice");
    for (const Part& part : breakdown.parts) {
      check_at_least(what + ": count", part.count, 1);
      const KernelRow* row = find_part(profile, breakdown.cell.dtype, part);
      if (row == nullptr || row->timing.summary.samples == 0) {
        throw DomainError(fmt::format("{}: {} {} has no time", what, part.operation, part.shape));
      }
    }
  }
}

}  // namespace

std::string to_text(const Cell& cell) {
  const std::string source = cell.source_length > 0 ? fmt::format(" source_length {}", cell.source_length) : "";
  return fmt::format("{} {} {} batch {} tokens {} context {}{} {} {}", cell.model, to_string(cell.role), cell.dtype,
                     cell.batch, cell.tokens, cell.context, source, to_string(cell.cache), to_string(cell.launch));
}

std::string to_text(const VerificationCell& cell) {
  return fmt::format("{} {} batch {} gamma {} vocabulary {} {} {} {}", cell.verifier, cell.dtype, cell.batch,
                     cell.gamma, cell.vocabulary, cell.logits, to_string(cell.cache), to_string(cell.launch));
}

std::optional<double> best_bandwidth(const Limits& limits) {
  const std::optional<double>& copy = limits.copy_bandwidth_bytes_per_s.value;
  const std::optional<double>& read = limits.read_bandwidth_bytes_per_s.value;
  if (copy || read) return std::max(copy.value_or(0.0), read.value_or(0.0));
  return limits.memory_bandwidth_bytes_per_s.value;
}

std::optional<double> capacity_bytes(const Device& device) {
  return device.usable_memory_bytes.value ? device.usable_memory_bytes.value : device.memory_bytes.value;
}

std::optional<double> matrix_peak(const Limits& limits, std::string_view dtype) {
  if (dtype == "fp16") return limits.matrix_peak_fp16_flop_per_s.value;
  if (dtype == "bf16") return limits.matrix_peak_bf16_flop_per_s.value;
  if (dtype == "fp32") return limits.matrix_peak_fp32_flop_per_s.value;
  return std::nullopt;
}

std::string_view schema_of(const Profile& profile) {
  bool second = profile.source == Source::engine || profile.source == Source::operators;
  const auto look = [&second](std::string_view name, const auto& field) {
    if constexpr (std::same_as<decltype(field), const Figure&>) second |= since_schema_2(name) && field.value;
  };
  visit_fields(profile.device, look);
  visit_fields(profile.limits, look);
  visit_fields(profile, look);
  return second ? profile_schema_2 : profile_schema_1;
}

Timing timing_of(const Measurement& measurement, double read_bytes, double written_bytes, double flop) {
  return {.summary = measurement.summary,
          .throttled = measurement.throttled,
          .stopped = measurement.stopped,
          .clock_mhz = measurement.clock_mhz,
          .read_bytes = read_bytes,
          .written_bytes = written_bytes,
          .flop = flop};
}

std::optional<double> floor_us(const Limits& limits, std::string_view dtype, const Timing& timing) {
  const std::optional<double> bandwidth = best_bandwidth(limits);
  const std::optional<double> peak = matrix_peak(limits, dtype);
  if (!bandwidth || (timing.flop > 0.0 && !peak)) return std::nullopt;
  const double moving_s = (timing.read_bytes + timing.written_bytes) / *bandwidth;
  const double computing_s = timing.flop > 0.0 ? timing.flop / *peak : 0.0;
  return 1e6 * std::max(moving_s, computing_s);
}

std::optional<double> fraction_of_ceiling(const Limits& limits, std::string_view dtype, const Timing& timing) {
  const std::optional<double> floor = floor_us(limits, dtype, timing);
  if (!floor || timing.summary.samples == 0) return std::nullopt;
  return *floor / timing.summary.median_us;
}

Derived derived(const Limits& limits, const std::string& dtype, const Timing& timing) {
  Derived values{.relative_spread = {},
                 .floor_us = floor_us(limits, dtype, timing),
                 .fraction_of_ceiling = fraction_of_ceiling(limits, dtype, timing)};
  if (timing.summary.samples > 0) values.relative_spread = relative_spread(timing.summary);
  return values;
}

const KernelRow* find_part(const Profile& profile, const std::string& dtype, const Part& part) {
  const auto found = std::find_if(profile.kernels.begin(), profile.kernels.end(), [&](const KernelRow& row) {
    return row.operation == part.operation && row.shape == part.shape && row.dtype == dtype &&
           row.cache == part.cache && row.launch == Launch::graph;
  });
  return found == profile.kernels.end() ? nullptr : &*found;
}

const StepRow* find_step(const Profile& profile, const Cell& cell) {
  const auto found = std::find_if(profile.steps.begin(), profile.steps.end(),
                                  [&cell](const StepRow& row) { return row.cell == cell; });
  return found == profile.steps.end() ? nullptr : &*found;
}

const VerificationRow* find_verification(const Profile& profile, const VerificationCell& cell) {
  const auto found = std::find_if(profile.verifications.begin(), profile.verifications.end(),
                                  [&cell](const VerificationRow& row) { return row.cell == cell; });
  return found == profile.verifications.end() ? nullptr : &*found;
}

void check_profile(const Profile& profile) {
  check_name("device", profile.device.name);
  check_figures(profile.device);
  check_figures(profile.limits);
  if (profile.source == Source::datasheet &&
      !(profile.steps.empty() && profile.kernels.empty() && profile.verifications.empty())) {
    throw DomainError("source datasheet with steps, kernels or verifications (a data sheet states no times)");
  }
  if (profile.source != Source::measured && (profile.protocol || profile.aa_test)) {
    throw DomainError(fmt::format("source {} with protocol or against_itself (only a measured profile has them)",
                                  to_string(profile.source)));
  }
  if (profile.source != Source::measured && !profile.fits.empty()) {
    throw DomainError(fmt::format("source {} with fits (only a measured profile has them)", to_string(profile.source)));
  }
  for (const LatencyFit& fit : profile.fits) check_fit(fit);
  check_step_error(profile);
  check_deployments(profile);
  check_engine_loop(profile);
  std::set<Cell> seen;
  for (const StepRow& row : profile.steps) {
    const std::string what = to_text(row.cell);
    check_name("model", row.cell.model);
    check_name("dtype", row.cell.dtype);
    check_counts(what, row.cell);
    check_timing(what, row.timing);
    if (!seen.insert(row.cell).second) throw DomainError(what + ": measured twice");
  }
  if (profile.raw_samples) check_at_least("raw_samples.bytes", profile.raw_samples->bytes, 1);
  check_kernels(profile);
  check_breakdowns(profile);
  check_verifications(profile);
}

}  // namespace foredraft::latency

namespace foredraft {

std::string_view to_string(ProfileSource source) {
  return latency::WordsOf<ProfileSource>::list.at(static_cast<std::size_t>(source));
}

}  // namespace foredraft
