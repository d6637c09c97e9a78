// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What ran, and with how many requests at once, as the words around a speed say.
namespace foredraft::logs {

/// What ran, in lower case; empty: not named.
struct Subject {
  std::string engine = {}, family = {}, size = {}, quantization = {};
};

/// False if the words around two speeds name other engines or other checkpoints.
[[nodiscard]] bool may_be_compared(const Subject& one, const Subject& other);

/// "BaseRT 0.2.0", "vLLM", "27B", "Q4_K_M" of `text`.
[[nodiscard]] Subject subject_in(std::string_view text);

/// The only size of model that a text names, behind its family if it names one: "qwen 27b"; empty: none or several.
[[nodiscard]] std::string model_in(std::string_view text);

/// Words (RE2) for a load of one request, before the number of one, and for requests that are sent one by one.
inline constexpr const char* words_of_one_request = "(?:single|one|1)[- ](?:stream|user|request|client|session|slot)";
/// "users = 8", "concurrent_requests: 8", lm-eval's "num_concurrent=8"; a server's limit is an option with dashes.
inline constexpr const char* counts_of_users =
    "(?:(?:users|clients|streams|sessions|concurrent[ _]requests) ?[=:] ?|num[ _-]concurrent[ =:]{1,3})";
inline constexpr const char* ways_of_one_request =
    "(?:sequential(?:ly)?|serially|back[- ]to[- ]back|one[- ](?:after (?:the other|another)|by[- ]one|at[- ]a[- "
    "]time))";

/// The loads that words name, each once: "at c=32", "64 concurrent requests".
[[nodiscard]] std::vector<double> loads_in(std::string_view text);

/// Whether words say that there is one request at a time, without its number.
[[nodiscard]] bool names_one_request(std::string_view text);

}  // namespace foredraft::logs
