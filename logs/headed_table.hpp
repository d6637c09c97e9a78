// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/arms.hpp"
#include "logs/headings.hpp"
#include "logs/log_format.hpp"
#include "logs/stated_run.hpp"
#include "logs/table_cells.hpp"

/// A table with one run per row: what its columns mean (table_meanings.cpp, table_names.cpp), and its rows as runs
/// (table_runs.cpp).
namespace foredraft::logs {

/// A table whose columns mean something.
class HeadedTable {
 public:
  HeadedTable(std::span<const std::string> headings, std::span<const TableRow> rows) : rows_(rows) {
    for (const std::string& heading : headings) columns_.push_back(column_of(bare_cell(heading)));
    tell_speeds_in_cells();
    drop_gains();
    tell_counters();
    tell_draft_tokens();
    tell_trees();
    tell_names();
    tell_accepted();
    keep_first_of_each();
    tell_answers();
    tell_apart();
    tell_sums();
    tell_setups();
    tell_temperatures();
    tell_threshold();
    tell_unknown();
    tell_namesakes();
    tell_same();
    tell_rising_rates();
    tell_prompts();
  }

  void read(LogContents& contents) const;

 private:
  [[nodiscard]] std::optional<std::size_t> at(Meaning meaning) const {
    const auto found = std::ranges::find(columns_, meaning, &Column::meaning);
    return found == columns_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - columns_.begin()));
  }
  [[nodiscard]] bool has(Meaning meaning) const { return at(meaning).has_value(); }
  [[nodiscard]] std::string_view text(const TableRow& row, Meaning meaning) const {
    const auto column = at(meaning);
    return column ? std::string_view(row.cells[*column]) : std::string_view{};
  }
  [[nodiscard]] std::optional<double> value(const TableRow& row, Meaning meaning) const;
  [[nodiscard]] std::vector<double> values_in(std::size_t column) const;
  [[nodiscard]] static bool may_be_share(Meaning meaning) {
    return meaning == Meaning::rate || meaning == Meaning::mean_accepted || meaning >= Meaning::accepted;
  }

  void tell_speeds_in_cells();
  void drop_gains();
  void tell_names();
  void tell_switch();
  void tell_counters();
  void tell_draft_tokens();
  bool tell_tree_sizes();
  void tell_trees();
  void tell_accepted();
  void keep_first_of_each();
  void tell_apart();
  void tell_answers();
  void tell_streams();
  void tell_gamma();
  [[nodiscard]] bool counts_steps(std::size_t column) const;
  void tell_request_rate();
  void tell_speed();
  bool tell_whole_runs(std::size_t speed);
  void tell_time(Meaning meaning, std::string_view heading);
  void tell_inter_token();
  void tell_accepted_per_step();
  void tell_mean_accepted();
  void tell_zero();
  void tell_rate();
  void tell_counts();
  void tell_sums();
  void tell_bare_setup();
  void tell_setups();
  void tell_temperatures();
  void tell_threshold();
  void tell_unknown();
  [[nodiscard]] std::map<std::string, std::string> kinds_of_names() const;
  void tell_namesakes();
  void label_codes();
  void tell_versions();
  void tell_same();
  void tell_rising_rates();
  void tell_prompts();
  [[noreturn]] void refuse(Meaning meaning, std::string_view why, std::string_view call_it) const;

  [[nodiscard]] Arm arm_of(const TableRow& row) const;
  [[nodiscard]] bool accepts(const TableRow& row) const;
  [[nodiscard]] std::string name_of_drafter(const TableRow& row) const;
  [[nodiscard]] bool ends_early(const TableRow& row) const;
  void set_acceptance_of(const TableRow& row, StatedRun& run, LogContents& contents) const;
  void add_positions(const TableRow& row, StatedRun& run, LogContents& contents) const;
  [[nodiscard]] bool rates_tell_gamma() const;
  void set_speed_of(const TableRow& row, bool has_plain, StatedRun& run) const;
  [[nodiscard]] std::optional<double> speed_by_gain(const TableRow& row) const;
  [[nodiscard]] std::optional<double> time_ms(const TableRow& row, Meaning meaning) const;
  [[nodiscard]] bool times_answers() const;
  [[nodiscard]] std::string_view output_test(const TableRow& row) const;
  [[nodiscard]] bool set_benchy_test(const TableRow& row, StatedRun& run) const;
  [[nodiscard]] std::optional<Observation> run_of(const TableRow& row, bool has_plain, LogContents& contents) const;
  [[nodiscard]] std::optional<double> temperature_of(const TableRow& row) const;
  [[nodiscard]] std::string conditions_of(const TableRow& row, bool lengths) const;
  [[nodiscard]] std::string kind_of(const TableRow& row) const;
  [[nodiscard]] std::string read_as() const;
  void tell_unread(const TableRow& row, LogContents& contents) const;
  void tell_lists(LogContents& contents) const;
  void tell_ranges(LogContents& contents) const;
  void tell_gains() const;

  std::span<const TableRow> rows_;
  std::vector<Column> columns_;
  bool names_plain_ = false;                           ///< a row is named plain: then one of K = 0 is another arm
  bool rates_tell_gamma_ = true;                       ///< rates_tell_gamma(), of a table with lengths and rates
  std::set<std::size_t> same_ = {};                    ///< columns whose cells are all equal
  std::string rising_ = {};                            ///< heading of rates that are none of drafted tokens
  bool chunks_ = false;                                ///< the inter-token latency is that of an iteration
  bool answers_ = false;                               ///< the times are of whole answers
  bool only_ratios_ = false;                           ///< speeds may be of all requests or of each
  bool several_ = false;                               ///< speeds are of several requests, as times between tokens tell
  std::map<std::string, std::string> additions_ = {};  ///< by name: what its rows have besides their arm
  bool names_subjects_ = false;                        ///< a column of models or devices names the rows
  std::map<std::string, std::string> setups_ = {};     ///< by name: the engine, model or device in it
  bool small_t_ = false;                               ///< "t=0" of a name is a temperature
  bool names_drafters_ = false;                        ///< a row names its drafter
  std::optional<std::size_t> naming_ = {};             ///< a column of words that belong to the names of drafting rows
  std::optional<std::size_t> threshold_ = {};          ///< a column of thresholds that end drafts early
  std::map<std::int64_t, double> prompts_ = {};        ///< before tests of output, by line
  std::set<std::string> labels_ = {};                  ///< names without which rows of an arm look the same
  mutable std::map<std::pair<std::string, std::string>, Arm> arms_ = {};  ///< by the cells of draft length and name
};

}  // namespace foredraft::logs
