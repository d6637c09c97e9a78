// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/fit_latency.hpp"

#include <fmt/format.h>
#include <Eigen/Core>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/models/storage.hpp"
#include "latency/profile/measurement.hpp"
#include "latency/profile/profile_fields.hpp"

namespace foredraft::latency {

double pass_us(const LatencyModel& model, const ForwardPassOperations& operations, const ForwardPassPoint& point) {
  return sum_us(operations, point, [&model](const StepOperator& one) { return operator_us(model, one); });
}

Deployment deployment_in(std::string_view dtype) {
  const std::optional<NumberFormat> format = number_format(dtype);
  if (!format) throw DomainError(fmt::format("unknown dtype {}", dtype));
  return {.weights = *format, .kv_cache = *format};
}

ForwardPassOperations measured_operations(ModelShape shape, Role role, std::string_view dtype,
                                          std::int64_t source_length) {
  shape.max_context = 0;
  return {std::move(shape), role, deployment_in(dtype), source_length};
}

std::optional<LatencyModel> roofline(const Limits& limits, std::string_view dtype) {
  const std::optional<double> bandwidth = best_bandwidth(limits);
  const std::optional<double> peak = matrix_peak(limits, dtype);
  if (!bandwidth || !peak) return std::nullopt;
  const double launch_us = limits.graph_node_us.value.value_or(0.0);
  return LatencyModel{.launch_us = launch_us,
                      .input_us = 0.0,
                      .bandwidth_bytes_per_s = *bandwidth,
                      .peak_flop_per_s = *peak,
                      .sharpness = std::numeric_limits<double>::infinity(),
                      .attend_launch_us = launch_us,
                      .attend_peak_flop_per_s = *peak};
}

namespace {

constexpr std::size_t max_parts = 5;
/// Maximum number of rows in a fit. More rows are thinned evenly, but the error includes all of them.
constexpr std::size_t max_fitted_rows = 400;
constexpr int parameter_count = 7;

struct Observation {
  std::string shape;  ///< held out as a unit
  std::vector<StepOperator> operators;
  double time_us;
};

/// All rows, and the ranges that they cover.
struct Observations {
  std::vector<Observation> rows;
  FitDomain domain{};
  bool empty = true;

  void cover(const Interval& rows_range, const Interval& product_bytes, const Interval& context) {
    const auto widen = [this](Interval& range, const Interval& by) {
      range = empty ? by : Interval{std::min(range.low, by.low), std::max(range.high, by.high)};
    };
    widen(domain.rows, rows_range);
    widen(domain.product_bytes, product_bytes);
    widen(domain.context, context);
    empty = false;
  }
};

void add_steps(const Profile& profile, const std::vector<ModelShape>& shapes, const Setting& setting,
               Observations& observations) {
  std::map<std::tuple<std::string, Role, std::int64_t>, ForwardPassOperations> passes;
  for (const StepRow& row : profile.steps) {
    const Cell& cell = row.cell;
    if (row.timing.summary.samples == 0 || setting_of(cell) != setting) continue;
    const ModelShape* shape = shape_named(shapes, cell.model);
    if (shape == nullptr) continue;
    const auto key = std::tuple(cell.model, cell.role, cell.source_length);
    auto known = passes.find(key);
    if (known == passes.end()) {
      known = passes.emplace(key, measured_operations(*shape, cell.role, cell.dtype, cell.source_length)).first;
    }
    const ForwardPassOperations& operations = known->second;
    const ForwardPassPoint point{cell.batch, cell.tokens, cell.context};
    Observation observation{.shape = cell.model, .operators = {}, .time_us = row.timing.summary.median_us};
    for (std::int64_t pass = 0; pass < operations.passes(point); ++pass) {
      std::ranges::copy(equal_together(operations.operators(point, pass)), std::back_inserter(observation.operators));
    }
    observations.rows.push_back(std::move(observation));
    const double rows = operations.rows(point);
    const auto context = static_cast<double>(cell.context);
    observations.cover({rows, rows}, operations.product_bytes(), {context, context});
  }
}

/// The number after a word of "rows 6 outputs 4096 inputs 4096"; nullopt if there is no finite number.
std::optional<double> number_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + word.size());
  double number = 0.0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

/// Adds separately timed matrix products. They do not extend the domain, because the model is for passes.
void add_products(const Profile& profile, const Setting& setting, Observations& observations) {
  for (const KernelRow& row : profile.kernels) {
    if (row.operation != "project" || row.timing.summary.samples == 0) continue;
    if (setting_of(row) != setting) continue;
    const auto inputs = number_after(row.shape, "inputs ");
    const std::size_t matrix = row.shape.find("outputs ");
    if (!inputs || matrix == std::string::npos) continue;
    const Timing& timing = row.timing;
    observations.rows.push_back({.shape = row.shape.substr(matrix),
                                 .operators = {{.name = "project",
                                                .kind = OperatorKind::product,
                                                .count = 1.0,
                                                .bytes = timing.read_bytes + timing.written_bytes,
                                                .flop = timing.flop,
                                                .inputs = *inputs}},
                                 .time_us = timing.summary.median_us});
  }
}

using Parameters = Eigen::Matrix<double, parameter_count, 1>;

/// Logarithms keep the parameters above 0; p > 1.
LatencyModel model_of(const Eigen::VectorXd& logs) {
  constexpr double furthest = 60.0;
  LatencyModel model;
  int i = 0;
  visit_fields(model, [&](const char* /*name*/, double& parameter) {
    parameter = std::exp(std::clamp(logs[i++], -furthest, furthest));
  });
  model.sharpness += 1.0;
  return model;
}

double predicted_us(const LatencyModel& model, const Observation& observation) {
  double sum_us = 0.0;
  for (const StepOperator& one : observation.operators) sum_us += one.count * operator_us(model, one);
  return sum_us;
}

/// log(predicted / measured) of every row, for Eigen.
struct Residuals {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  const std::vector<const Observation*>& observations;

  [[nodiscard]] int inputs() const { return parameter_count; }
  [[nodiscard]] int values() const { return static_cast<int>(observations.size()); }
  int operator()(const InputType& logs, ValueType& residuals) const {
    const LatencyModel model = model_of(logs);
    for (std::size_t i = 0; i < observations.size(); ++i) {
      residuals[static_cast<Eigen::Index>(i)] =
          std::log(predicted_us(model, *observations[i]) / observations[i]->time_us);
    }
    return 0;
  }
};

/// Initial values: the maximum bandwidth and flop rate in the data, and the launch time of a current device.
Eigen::VectorXd start_of(const std::vector<const Observation*>& observations) {
  double bandwidth = 1.0;
  double peak = 1.0;
  for (const Observation* observation : observations) {
    double bytes = 0.0;
    double flop = 0.0;
    for (const StepOperator& one : observation->operators) {
      bytes += one.count * one.bytes;
      flop += one.count * one.flop;
    }
    bandwidth = std::max(bandwidth, 1e6 * bytes / observation->time_us);
    peak = std::max(peak, 1e6 * flop / observation->time_us);
  }
  constexpr double launch_us = 2.0;
  constexpr double input_us = 1e-4;
  constexpr double sharpness_above_one = 2.0;
  Eigen::VectorXd start(parameter_count);
  start << std::log(launch_us), std::log(input_us), std::log(bandwidth), std::log(peak), std::log(sharpness_above_one),
      std::log(launch_us), std::log(peak);
  return start;
}

Eigen::VectorXd fitted(const std::vector<const Observation*>& observations, Eigen::VectorXd logs) {
  std::vector<const Observation*> used;
  const std::size_t step = 1 + (observations.size() - 1) / max_fitted_rows;
  for (std::size_t i = 0; i < observations.size(); i += step) used.push_back(observations[i]);
  // With fewer rows than parameters least squares has no solution; repeating the rows does not change it.
  while (used.size() < parameter_count) used.insert(used.end(), used.begin(), used.end());
  const Residuals residuals{used};
  Eigen::NumericalDiff<Residuals> differentiable(residuals);
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Residuals>> solver(differentiable);
  solver.parameters.maxfev = 1000;
  solver.parameters.ftol = 1e-10;
  solver.parameters.xtol = 1e-10;
  solver.minimize(logs);
  return logs;
}

std::vector<const Observation*> pointers_to(const std::vector<Observation>& rows, auto&& wanted) {
  std::vector<const Observation*> pointers;
  for (const Observation& row : rows) {
    if (wanted(row)) pointers.push_back(&row);
  }
  return pointers;
}

HeldOutError held_out_error(const Observations& observations, const std::vector<std::string>& shapes,
                            const Eigen::VectorXd& start) {
  const std::size_t parts = std::min(max_parts, shapes.size());
  std::vector<double> errors;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto left_out = [&](const Observation& row) {
      const auto place = std::lower_bound(shapes.begin(), shapes.end(), row.shape) - shapes.begin();
      return static_cast<std::size_t>(place) % parts == part;
    };
    const LatencyModel model =
        model_of(fitted(pointers_to(observations.rows, [&](const Observation& row) { return !left_out(row); }), start));
    for (const Observation* row : pointers_to(observations.rows, left_out)) {
      errors.push_back(std::abs(predicted_us(model, *row) / row->time_us - 1.0));
    }
  }
  std::sort(errors.begin(), errors.end());
  double sum = 0.0;
  for (const double error : errors) sum += error;
  return {.rows = static_cast<std::int64_t>(errors.size()),
          .shapes = static_cast<std::int64_t>(shapes.size()),
          .mean = sum / static_cast<double>(errors.size()),
          .median = percentile(errors, 0.5),
          .p90 = percentile(errors, 0.9),
          .p95 = percentile(errors, 0.95),
          .max = errors.back()};
}

/// Bootstrap: intervals of parameters refitted to shapes drawn with replacement.
LatencyIntervals resampled(const Observations& observations, const std::vector<std::string>& shapes,
                           const Eigen::VectorXd& best, std::int64_t resamples) {
  std::array<std::vector<double>, parameter_count> drawn;
  for (std::int64_t i = 0; i < std::max<std::int64_t>(resamples, 1); ++i) {
    std::vector<const Observation*> rows;
    RandomStream stream(1, {.purpose = Purpose::bootstrap, .point = 0, .block = static_cast<std::uint64_t>(i)});
    for (std::size_t k = 0; k < shapes.size() && resamples > 0; ++k) {
      const std::string& shape =
          shapes[static_cast<std::size_t>(stream.uniform() * static_cast<double>(shapes.size()))];
      const auto of_shape = pointers_to(observations.rows, [&](const Observation& row) { return row.shape == shape; });
      rows.insert(rows.end(), of_shape.begin(), of_shape.end());
    }
    auto place = drawn.begin();
    const LatencyModel model = model_of(resamples > 0 ? fitted(rows, best) : best);
    visit_fields(model, [&](const char* /*name*/, double parameter) { (place++)->push_back(parameter); });
  }
  LatencyIntervals intervals;
  auto place = drawn.begin();
  visit_fields(intervals, [&](const char* /*name*/, Interval& interval) {
    std::vector<double>& values = *place++;
    std::ranges::sort(values);
    interval = {percentile(values, 0.025), percentile(values, 0.975)};
  });
  return intervals;
}

}  // namespace

std::vector<Setting> settings_of(const Profile& profile) {
  std::vector<Setting> settings;
  for (const StepRow& row : profile.steps) {
    const Setting setting = setting_of(row.cell);
    if (std::find(settings.begin(), settings.end(), setting) == settings.end()) settings.push_back(setting);
  }
  return settings;
}

std::optional<LatencyFit> fit_latency(const Profile& profile, const std::vector<ModelShape>& shapes,
                                      const Setting& setting, std::int64_t resamples) {
  Observations observations;
  add_steps(profile, shapes, setting, observations);
  if (observations.rows.empty()) return std::nullopt;
  add_products(profile, setting, observations);
  std::vector<std::string> fitted_shapes;
  for (const Observation& row : observations.rows) fitted_shapes.push_back(row.shape);
  std::sort(fitted_shapes.begin(), fitted_shapes.end());
  fitted_shapes.erase(std::unique(fitted_shapes.begin(), fitted_shapes.end()), fitted_shapes.end());
  if (static_cast<std::int64_t>(fitted_shapes.size()) < min_fitted_shapes) return std::nullopt;
  const auto all = pointers_to(observations.rows, [](const Observation&) { return true; });
  const Eigen::VectorXd start = start_of(all);
  const Eigen::VectorXd best = fitted(all, start);
  return LatencyFit{.dtype = setting.dtype,
                    .cache = setting.cache,
                    .launch = setting.launch,
                    .model = model_of(best),
                    .ci95 = resampled(observations, fitted_shapes, best, resamples),
                    .held_out = held_out_error(observations, fitted_shapes, start),
                    .domain = observations.domain};
}

std::vector<LatencyFit> fit_latencies(const Profile& profile, const std::vector<ModelShape>& shapes) {
  constexpr std::int64_t resamples = 40;
  std::vector<LatencyFit> fits;
  for (const Setting& setting : settings_of(profile)) {
    if (auto fit = fit_latency(profile, shapes, setting, resamples)) fits.push_back(std::move(*fit));
  }
  return fits;
}

}  // namespace foredraft::latency
