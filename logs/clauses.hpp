// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace foredraft::logs {

/// Where the clause ends that `text` begins in.
[[nodiscard]] std::size_t end_of_clause(std::string_view text);

/// Where the sentence ends that `text` begins in: behind its mark, or at the end of the text.
[[nodiscard]] std::size_t end_of_sentence(std::string_view text);

}  // namespace foredraft::logs
