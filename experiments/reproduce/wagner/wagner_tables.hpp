// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "experiments/reproduce/published.hpp"

/// The tables of [Wagner2024] print one run under two spellings ("CNN/DM" and "CNN/DailyMail", "Whisper Small.EN" and
/// "Small.EN") and in two orders; here a row of one is found in another.
namespace foredraft::experiments {

/// "CNN/DailyMail Llama2 7B", "LibriSpeech clean Large V2": one name for a run in Tables 1, 3 and 4.
[[nodiscard]] std::string wagner_run(const PublishedTable& table, std::size_t row);

/// The row of `table` that holds this run. Throws std::logic_error when there is none.
[[nodiscard]] std::size_t wagner_row(const PublishedTable& table, const std::string& run);

}  // namespace foredraft::experiments
