// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "experiments/reproduce/published.hpp"
#include "experiments/reproduce/registry.hpp"
#include "experiments/reproduce/scorecard.hpp"

/// The tables of [Wagner2024] print one run under two spellings ("CNN/DM" and "CNN/DailyMail", "Whisper Small.EN" and
/// "Small.EN") and in two orders; here a row of one is found in another.
namespace foredraft::experiments {

/// "CNN/DailyMail Llama2 7B", "LibriSpeech clean Large V2": one name for a run in Tables 1, 3 and 4.
[[nodiscard]] std::string wagner_run(const PublishedTable& table, std::size_t row);

/// The row of `table` that holds this run. Throws std::logic_error when there is none.
[[nodiscard]] std::size_t wagner_row(const PublishedTable& table, const std::string& run);

/// Gain of one call of the verification step, `whole` * (1 - after / before), from the averages of Table 4. `variant`:
/// "exact" or "sigmoid".
[[nodiscard]] RoundedValue wagner_call_gain(const std::string& run, const std::string& variant, double whole = 1.0);

/// What counted bytes and launches (call_cost.hpp) say of the same gain, at the draft length that a run starts with and
/// over all that the paper sweeps.
struct CountedGain {
  double at_first_gamma;
  Interval over_gammas;
};
[[nodiscard]] CountedGain counted_gain(const std::string& run, const std::string& variant);

/// Adds a row to a table's scorecard that claims no agreement: `ours` in percent, counted and not measured.
void add_counted_row(ExperimentResult& result, const std::string& experiment, const std::string& run,
                     const std::string& column, double ours, const std::string& note);

/// "5.7 to 11.9", in percent, of shares.
[[nodiscard]] std::string percent_range(const std::vector<double>& shares);

}  // namespace foredraft::experiments
