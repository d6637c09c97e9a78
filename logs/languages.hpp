// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// Words of other languages, so that all patterns know only the English ones.
namespace foredraft::logs {

/// Appends whole lines to `into`. In lines in another script, in headings and in rows of tables the words that name
/// arms, loads and metrics become English: "| 基线 tok/s |" is "| baseline tok/s |". Other lines stay as they are, and
/// those that are longer than a row or begin a JSON value.
void append_in_english(std::string_view lines, std::string& into);

}  // namespace foredraft::logs
