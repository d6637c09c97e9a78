// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foredraft/errors.hpp"
#include "logs/log_reader.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::tests {

/// A file of tests/logs/samples.
inline std::string sample(const std::string& name) {
  std::ifstream file(FOREDRAFT_SOURCE "/tests/logs/samples/" + name, std::ios::binary);
  if (!file) throw std::runtime_error("no sample " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline logs::LogContents read_log(std::string_view text, std::string_view format = "") {
  logs::LogReader reader("some.log", format);
  reader.add(text);
  return reader.finish();
}

/// The observations of a log that must be of this format.
inline std::vector<logs::Observation> posted_runs(std::string_view text, const std::string& format) {
  logs::LogContents contents = read_log(text);
  CHECK(contents.format == format);
  return std::move(contents.observations);
}

/// The brief error message of a rejected log; empty if it is read.
inline std::string problem(std::string_view text) {
  try {
    read_log(text);
  } catch (const InputError& error) {
    return brief(error.what());
  }
  return {};
}

inline bool warns(const logs::LogContents& contents, std::string_view code) {
  for (const logs::LogWarning& warning : contents.warnings) {
    if (warning.code == code) return true;
  }
  return false;
}

/// The text with another one in the place of `what`, where it first is.
inline std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

/// Quotients and products of a few doubles.
inline Approx near(double value) { return Approx(value).epsilon(1e-12); }

using Counts = std::vector<std::int64_t>;

}  // namespace foredraft::tests
