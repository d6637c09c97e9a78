// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <toml++/toml.h>
#include <array>

#include "core/documents.hpp"
#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "latency/surfaces/attainable_text.hpp"
#include "latency/surfaces/step_model.hpp"

namespace foredraft::latency {
namespace {

constexpr double least_nvlink_bytes_per_s = 100e9;
constexpr std::array range_keys{"low", "value", "high"};

struct RangeKey {
  std::string_view key;
  Range Attainable::*range;
  double least;  ///< smallest legal number
};

constexpr std::array<RangeKey, 8> common_keys{{
    {"bandwidth_efficiency", &Attainable::bandwidth_efficiency, 1e-3},
    {"compute_efficiency", &Attainable::compute_efficiency, 1e-3},
    {"operator_us", &Attainable::operator_us, 0.0},
    {"sharpness", &Attainable::sharpness, 1.0},
    {"step_us", &Attainable::step_us, 0.0},
    {"step", &Attainable::step, 1e-3},
    {"verification", &Attainable::verification, 1e-3},
    {"iteration_us", &Attainable::iteration_us, 0.0},
}};
/// Of each kind of link.
constexpr std::array<RangeKey, 2> link_keys{{
    {"all_reduce_us", &Attainable::all_reduce_us, 0.0},
    {"link_efficiency", &Attainable::link_efficiency, 1e-3},
}};

Range read_range(const toml::table& file, const std::string& path, double least, ProblemList& problems) {
  std::array<double, 3> numbers{};
  for (std::size_t i = 0; i < range_keys.size(); ++i) {
    const std::string key = fmt::format("{}.{}", path, range_keys[i]);
    const auto node = file.at_path(key);
    const auto number = node.value<double>();
    if (!number || !(*number >= least)) {
      problems.add({.line = node ? static_cast<std::int64_t>(node.node()->source().begin.line) : 0,
                    .key = key,
                    .text = node ? "invalid number" : "missing",
                    .why = fmt::format("must be at least {}", least)});
      return {};
    }
    numbers[i] = *number;
  }
  if (!(numbers[0] <= numbers[1] && numbers[1] <= numbers[2])) {
    problems.add({.key = path, .text = "low, value and high are not in order"});
  }
  if (!file.at_path(path + ".source").value<std::string>()) {
    problems.add({.key = path + ".source", .text = "missing", .why = "every number says where it comes from"});
  }
  return {numbers[0], numbers[1], numbers[2]};
}

const AttainableFile& shipped() {
  static const AttainableFile file =
      parse_attainable(attainable_texts().front().text, "latency/attainable/attainable.toml");
  return file;
}

}  // namespace

AttainableFile parse_attainable(std::string_view text, const std::string& name) {
  ProblemList problems(name);
  if (!check_toml_limits(text, problems)) throw DomainError(problems.text());
  AttainableFile read;
  try {
    const toml::table file = toml::parse(text, name);
    for (const RangeKey& one : common_keys) {
      read.nvlink.*one.range = read_range(file, std::string(one.key), one.least, problems);
    }
    read.pcie = read.nvlink;
    for (const RangeKey& one : link_keys) {
      read.nvlink.*one.range = read_range(file, fmt::format("{}.nvlink", one.key), one.least, problems);
      read.pcie.*one.range = read_range(file, fmt::format("{}.pcie", one.key), one.least, problems);
    }
  } catch (const toml::parse_error& error) {
    problems.add({static_cast<std::int64_t>(error.source().begin.line), "syntax", std::string(error.description())});
  }
  if (!problems.empty()) throw DomainError(problems.text());
  return read;
}

Attainable attainable_of(const DevicePeaks& peaks) {
  const bool nvlink = peaks.link_bandwidth_bytes_per_s.value_or(0.0) >= least_nvlink_bytes_per_s;
  return nvlink ? shipped().nvlink : shipped().pcie;
}

}  // namespace foredraft::latency
