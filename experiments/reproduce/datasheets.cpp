#include "experiments/reproduce/datasheets.hpp"

#include <fmt/format.h>
#include <stdexcept>

#include "gpu_bench/profile/profile_json.hpp"

namespace foredraft::experiments {

gpu_bench::Profile datasheet(std::string_view name) {
  for (const DatasheetFile& file : datasheet_files()) {
    if (file.name == name) return gpu_bench::from_json(file.content, std::string(name));
  }
  throw std::logic_error(fmt::format("no data sheet is called {}", name));
}

}  // namespace foredraft::experiments
