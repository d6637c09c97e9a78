// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/samples_table.hpp"

#include <fmt/format.h>

#include <boost/crc.hpp>

namespace foredraft::gpu_bench {

void append_samples(std::string& table, std::string_view what, const std::vector<double>& samples_us) {
  if (table.empty()) table = "what,samples_us\n";
  table += what;
  char separator = ',';
  for (const double sample : samples_us) {
    table += separator;
    fmt::format_to(std::back_inserter(table), "{:.5g}", sample);
    separator = ' ';
  }
  table += '\n';
}

std::string to_text(const latency::KernelRow& row) {
  return fmt::format("{} {} {} {} {}", row.operation, row.shape, row.dtype, to_string(row.cache),
                     to_string(row.launch));
}

latency::RawSamples raw_samples_of(std::string_view table) {
  boost::crc_32_type crc;
  crc.process_bytes(table.data(), table.size());
  return {.bytes = static_cast<std::int64_t>(table.size()), .crc32 = fmt::format("{:08x}", crc.checksum())};
}

}  // namespace foredraft::gpu_bench
