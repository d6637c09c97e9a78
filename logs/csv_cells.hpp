// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Tables whose cells are separated by commas.
namespace foredraft::logs {

/// The cells of a line without blanks around them; quotes around a cell are taken off and doubled ones in it undoubled.
[[nodiscard]] std::vector<std::string> csv_cells(std::string_view line);

}  // namespace foredraft::logs
