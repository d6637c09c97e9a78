// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <re2/re2.h>
#include <string_view>

/// Text for RE2.
namespace foredraft::logs {

/// RE2 over bytes instead of UTF-8, because logs may contain invalid text.
[[nodiscard]] inline RE2::Options byte_options() {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  return options;
}

/// Text as RE2 takes it; only some of its versions use standard string views.
[[nodiscard]] inline re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace foredraft::logs
