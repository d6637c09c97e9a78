#pragma once

#include <string_view>
#include <vector>

#include "gpu_bench/profile/profile.hpp"

/// What makers print of their devices, compiled into the program from gpu_bench/data/datasheet/*.json.
namespace foredraft::experiments {

/// `name` is the stem of the file: "a100-80gb". Throws std::logic_error on an unknown one.
[[nodiscard]] gpu_bench::Profile datasheet(std::string_view name);

/// One embedded file.
struct DatasheetFile {
  std::string_view name;
  std::string_view content;
};
[[nodiscard]] const std::vector<DatasheetFile>& datasheet_files();

}  // namespace foredraft::experiments
