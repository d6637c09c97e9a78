// SPDX-License-Identifier: Apache-2.0
#include "logs/scrape_counters.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>

#include "logs/acceptance.hpp"
#include "logs/line_fields.hpp"
#include "logs/log_format.hpp"
#include "logs/scrapes.hpp"

namespace foredraft::logs {
namespace {

/// 2 of `{position="2"}`, `{token_position="2"}` and `{le="2"}`.
std::optional<std::int64_t> labeled_position(std::string_view series) {
  for (const std::string_view label : {"position=\"", "{le=\"", ",le=\""}) {
    const std::size_t at = series.find(label);
    if (at == std::string_view::npos) continue;
    std::string_view rest = series.substr(at + label.size());
    return whole(take_number(rest));
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> Counted::sum(std::string_view name) const {
  std::optional<double> total;
  for (const auto& [series, value] : now_.counters) {
    if (name_of_series(series) != name || (total && now_.engine == "sglang")) continue;
    total = total.value_or(0.0) + since(series, value);
  }
  return total;
}

std::optional<double> Counted::positive(std::string_view name) const {
  const auto total = sum(name);
  return total && *total > 0.0 ? total : std::nullopt;
}

std::optional<std::int64_t> Counted::count(std::string_view name) const {
  const auto total = sum(name);
  return total ? std::optional(whole_count_of(name, *total)) : std::nullopt;
}

std::optional<double> Counted::mean(std::string_view name) const {
  const auto total = positive(fmt::format("{}_sum", name));
  const auto observed = positive(fmt::format("{}_count", name));
  return total && observed ? std::optional(*total / *observed) : std::nullopt;
}

std::optional<double> Counted::mean_ms(std::string_view name) const {
  const auto seconds = mean(name);
  return seconds ? std::optional(1000.0 * *seconds) : std::nullopt;
}

std::vector<std::int64_t> Counted::by_position(std::string_view name) const {
  std::vector<std::int64_t> at;
  std::set<std::size_t> found;
  for (const auto& [series, value] : now_.counters) {
    if (name_of_series(series) != name) continue;
    const auto position = labeled_position(series);
    if (!position || *position >= max_positions) continue;
    const auto i = static_cast<std::size_t>(*position);
    found.insert(i);
    at.resize(std::max(at.size(), i + 1), 0);
    at[i] = whole_count_of(series, static_cast<double>(at[i]) + since(series, value));
  }
  return found.size() == at.size() ? at : std::vector<std::int64_t>{};
}

std::optional<double> Counted::gauge(std::string_view name) const {
  const auto found = now_.gauges.find(name);
  return found == now_.gauges.end() || !std::isfinite(found->second) ? std::nullopt : std::optional(found->second);
}

std::optional<double> Counted::seconds() const {
  const auto end = gauge(scrape_time);
  const auto begin = before_ == nullptr ? std::nullopt : Counted(*before_, nullptr).gauge(scrape_time);
  if (!begin || !end) return std::nullopt;
  const double between = *end - *begin;
  return between > 0.0 ? std::optional(between) : std::nullopt;
}

std::optional<double> Counted::running() const {
  const auto now = running_now();
  const auto before = now && before_ != nullptr ? Counted(*before_, nullptr).running_now() : std::nullopt;
  return before ? 0.5 * (*now + *before) : now;
}

/// The first gauge that exists, if positive. Queued requests are subtracted from Dynamo's, which includes them.
std::optional<double> Counted::running_now() const {
  for (const std::string_view name :
       {"num_generation_requests", "num_requests_running", "num_running_reqs", "requests_processing",
        "batch_current_size", "dynamo_frontend_inflight_requests"}) {
    auto now = gauge(name);
    if (!now) continue;
    if (name.starts_with("dynamo")) *now -= gauge("dynamo_frontend_queued_requests").value_or(0.0);
    return *now > 0.0 ? now : std::nullopt;
  }
  return std::nullopt;
}

std::int64_t Counted::whole_count_of(std::string_view name, double total) const {
  const auto count = whole(total);
  if (!count) {
    reject({.line = now_.line,
            .key = std::string(name),
            .text = fmt::format("{}", total),
            .why = "must be a whole number from 0 to 2^53"});
  }
  return *count;
}

double Counted::since(const std::string& series, double value) const {
  if (before_ == nullptr) return value;
  const auto earlier = before_->counters.find(series);
  return value - (earlier == before_->counters.end() ? 0.0 : earlier->second);
}

}  // namespace foredraft::logs
