// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Headings of tables as people write them.
namespace foredraft::logs {

/// What a column means. Values resolve an ambiguous heading (table_meanings.cpp), else the table is rejected.
enum class Meaning {
  ignored,  ///< an unknown heading: not read
  // the arm
  gamma,
  tree_width,   ///< of a tree of drafts, whose depth is in the column of `gamma`
  tree_tokens,  ///< that are verified at once
  name,         ///< of the arm: "plain", "MTP K=3"
  // the load and the prompts
  concurrency,
  request_rate,
  category,
  subject,  ///< a model, a device: it tells rows apart
  prompt_tokens,
  output_tokens,
  context_tokens,
  temperature,
  benchy_test,  ///< a test of llama-benchy, "tg128 (c5) @ d1024"
  // speeds and times
  speed,  ///< output tokens/s: of all requests or of each
  total_speed,
  request_speed,
  tpot,
  inter_token,  ///< of an iteration or of a token
  iteration,
  ttft,
  duration,
  // acceptance
  length,
  accepted_per_step,
  mean_accepted,  ///< one of the two above
  rate,
  steps,
  drafted,
  mean_drafted,  ///< a step, where draft lengths differ
  accepted,      ///< a number, or "150/200"
  positions,     ///< a list
  position,      ///< one of them, Column::position
};

// Whether a meaning is of one of the last two groups above.
constexpr bool is_speed_or_time(Meaning meaning) { return meaning >= Meaning::speed && meaning <= Meaning::duration; }
constexpr bool is_acceptance(Meaning meaning) { return meaning >= Meaning::length; }

/// What a heading says of its column.
struct Column {
  std::string heading = {};  ///< as written
  Meaning meaning = Meaning::ignored;
  std::optional<int> position = {};  ///< as written, from 0 or from 1
  double unit = 0.0;                 ///< milliseconds of a unit of a time; 0: the heading does not say
  bool percent = false;
  bool may_be_count = false;  ///< `gamma` of a heading that may mean a total: "draft tokens", "n"
};

/// A duration without a unit is in seconds.
[[nodiscard]] Column column_of(std::string_view heading);

/// The column of the only speed, if no heading is known as one and one has the unit behind other words: "Pooled tok/s".
[[nodiscard]] std::optional<std::size_t> only_speed(std::span<const std::string> headings);

/// Whether an unknown heading is that of a speed if its cells have the unit: "Decode" of "21 t/s".
[[nodiscard]] bool may_be_speed(std::string_view heading);

/// The heading of times that only a speedup tells from speeds.
inline constexpr std::string_view measure_of_times = "ms/token";

/// The name of a meaning in messages, with its unit.
[[nodiscard]] std::string_view words_of(Meaning meaning);

}  // namespace foredraft::logs
