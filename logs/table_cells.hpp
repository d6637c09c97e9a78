// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the cells of a table hold, as people write it.
namespace foredraft::logs {

/// A number and its unit.
struct CellNumber {
  std::optional<double> value = {};
  bool percent = false;
  double unit = 0.0;  ///< milliseconds of "175 ms" and "0.2 s"; 0: none
  bool gain = false;  ///< "+8 %", "75 %", "1.27x": no speed, time or length, but a ratio
};

/// The text of a cell without its marks: "**0.7**" and "~0.7" are "0.7"; "1.1~1.3" is "1.1-1.3".
[[nodiscard]] std::string bare_cell(std::string_view cell);

/// What a query of Prometheus in a heading is: "acceptance rate" of
/// "rate(vllm:spec_decode_num_accepted_tokens_total[1m]) / rate(vllm:spec_decode_num_draft_tokens_total[1m])", as
/// exports of Grafana have; other headings stay.
[[nodiscard]] std::string heading_of_query(std::string heading);

/// A heading without brackets in brackets, or around a draft length before other words: "tok/s (plain -> MTP (K=3))"
/// and "MTP (3) tok/s" are "tok/s (plain -> MTP K=3)" and "MTP 3 tok/s".
[[nodiscard]] std::string with_few_brackets(std::string heading);

/// Takes a number from the front of `text`; nullopt if there is none, or a negative one.
[[nodiscard]] std::optional<double> take_measure(std::string_view& text);

/// A cell as a number: "90.7 +- 2.1" is 90.7, "75 %" 75 with its percent sign, "16K" 16000; nullopt for "n/a", "-" and
/// a formula: "1 + rate * K".
[[nodiscard]] CellNumber number_of_cell(std::string_view cell);

/// Something measured, in a cell: as number_of_cell, but the mean of several runs ("58 / 60 / 62", "58.1, 60.4") and
/// the middle of a range ("10-11 tok/s"), which has no unit.
[[nodiscard]] CellNumber measure_in(std::string_view cell);

/// Whether a cell is a range: "0.42-0.90", "2.1 to 2.5".
[[nodiscard]] bool is_range(std::string_view cell);

/// Whether the last cell of a row that was cut off is whole: it has as many decimals, at least one, as the one above.
[[nodiscard]] bool is_whole(std::string_view cell, std::string_view above);

/// Whether a cell is a speed with its unit: "35.1 +- 0.6 t/s", "~60-80 tok/s".
[[nodiscard]] bool in_tokens_per_s(std::string_view cell);

/// The ratio that a gain states: 1.33 of "1.33x", 3.36 of "+236 %", 0.82 of "-18 %"; nullopt for what is none.
[[nodiscard]] std::optional<double> gain_in(std::string_view cell);

/// Joins gains to the cells before them if a row has that many cells more than its head: "60 | +50 %" is "60 (+50 %)".
void join_gains(std::vector<std::string>& cells, std::size_t count);

/// The acceptance rate beside something else in a cell: 0.96 of "37.5 t/s, 96 % accept".
[[nodiscard]] std::optional<double> rate_beside(std::string_view cell);

}  // namespace foredraft::logs
