// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logs/observation.hpp"

namespace foredraft::logs {

/// The name of a series: what is before its labels.
[[nodiscard]] inline std::string_view name_of_series(std::string_view series) {
  return series.substr(0, series.find('{'));
}

/// Counters of a server between two moments, or since its start.
class Counted {
 public:
  Counted(const ServerScrape& now, const ServerScrape* before) : now_(now), before_(before) {}

  [[nodiscard]] bool has(std::string_view name) const { return sum(name).has_value(); }

  /// Sum over all series of this name, nullopt if there is none; of SGLang's, one for every rank, the first.
  [[nodiscard]] std::optional<double> sum(std::string_view name) const;

  /// As above, nullopt unless positive.
  [[nodiscard]] std::optional<double> positive(std::string_view name) const;

  /// The sum as a count, nullopt if absent. Throws RejectedRecord unless it is an integer in [0, max_logged_count].
  [[nodiscard]] std::optional<std::int64_t> count(std::string_view name) const;

  /// The mean of a histogram; nullopt unless its sum and count are positive.
  [[nodiscard]] std::optional<double> mean(std::string_view name) const;

  /// The mean of a histogram of seconds, in milliseconds.
  [[nodiscard]] std::optional<double> mean_ms(std::string_view name) const;

  /// A counter by position, or the whole bounds of a histogram's buckets; empty if one is missing, which a post may
  /// leave out.
  [[nodiscard]] std::vector<std::int64_t> by_position(std::string_view name) const;

  /// Drafts that were accepted at each position.
  [[nodiscard]] std::vector<std::int64_t> accepted_at() const {
    return by_position("spec_decode_num_accepted_tokens_per_pos");
  }

  [[nodiscard]] std::optional<double> gauge(std::string_view name) const;

  [[nodiscard]] std::int64_t line() const { return now_.line; }
  [[nodiscard]] const std::string& engine() const { return now_.engine; }
  [[nodiscard]] bool since_start() const { return before_ == nullptr; }
  /// Seconds between both moments, if they are known.
  [[nodiscard]] std::optional<double> seconds() const;
  [[nodiscard]] Counted from_start() const { return {now_, nullptr}; }

  /// Running requests: at the end, or the mean of start and end if some run at both.
  [[nodiscard]] std::optional<double> running() const;

 private:
  [[nodiscard]] std::optional<double> running_now() const;
  [[nodiscard]] std::int64_t whole_count_of(std::string_view name, double total) const;
  [[nodiscard]] double since(const std::string& series, double value) const;

  const ServerScrape& now_;
  const ServerScrape* before_;
};

}  // namespace foredraft::logs
