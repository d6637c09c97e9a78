// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "foredraft/errors.hpp"
#include "logs/scrapes.hpp"
#include "tests/logs/logs_testing.hpp"

/// Samples with injected faults, for a short test and for the program that runs for minutes.
namespace foredraft::tests {

inline std::vector<std::string> all_samples() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(FOREDRAFT_SOURCE "/tests/logs/samples")) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  std::vector<std::string> samples;
  for (const std::string& name : names) samples.push_back(sample(name));
  return samples;
}

/// A text with one to eight faults: changed bytes and digits, pieces dropped, doubled or taken from another sample,
/// extreme numbers inserted.
class LogMutator {
 public:
  LogMutator(std::vector<std::string> samples, std::uint64_t seed) : samples_(std::move(samples)), random_(seed) {}

  std::string next() {
    std::string text = samples_[below(samples_.size())];
    for (std::size_t faults = 1 + below(8); faults > 0; --faults) mutate(text);
    return text;
  }

  std::size_t below(std::size_t end) { return end == 0 ? 0 : static_cast<std::size_t>(random_() % end); }

 private:
  void mutate(std::string& text) {
    static const std::vector<std::string> ends = {
        "0", "-1", "1e308", "9007199254740993", "nan", "inf", ",", "1e-300", "\n", "{\"", "[", "\x1b[", "\r",
        "|", "=",  "99999"};
    if (text.empty()) text = samples_[below(samples_.size())];
    const std::size_t at = below(text.size());
    const std::size_t size = below(std::min<std::size_t>(text.size() - at, 200)) + 1;
    switch (below(6)) {
      case 0:
        text[at] = static_cast<char>(random_() & 0xFFU);
        break;
      case 1:
        text.erase(at, size);
        break;
      case 2:
        text.insert(at, text.substr(at, size));
        break;
      case 3:
        replace_number(text, at, ends[below(ends.size())]);
        break;
      case 4:
        text.resize(at);
        break;
      default: {
        const std::string& other = samples_[below(samples_.size())];
        text.insert(at, other.substr(below(other.size()), size));
      }
    }
  }

  static void replace_number(std::string& text, std::size_t at, const std::string& with) {
    const std::size_t first = text.find_first_of("0123456789", at);
    if (first == std::string::npos) return;
    const std::size_t end = std::min(text.find_first_not_of("0123456789.", first), text.size());
    text.replace(first, end - first, with);
  }

  std::vector<std::string> samples_;
  std::mt19937_64 random_;
};

/// Reads `text` in pieces. An InputError is a valid result; any other exception is passed on.
inline void read_mutated(const std::string& text, std::size_t piece) {
  try {
    logs::LogReader reader("mutated.log");
    for (std::size_t at = 0; at < text.size(); at += piece) reader.add(std::string_view(text).substr(at, piece));
    const logs::LogContents contents = reader.finish();
    for (std::size_t i = 1; i < contents.observations.size(); ++i) {
      if (logs::may_be_pooled(contents.observations[i - 1], contents.observations[i])) {
        (void)logs::pooled(contents.observations[i - 1], contents.observations[i]);
      }
    }
    logs::ObservedLog changed{.file = "changed.log", .sha256 = "", .contents = contents};
    for (logs::ServerScrape& scrape : changed.contents.scrapes) {
      for (auto& [series, value] : scrape.counters) value *= 2.0;
    }
    std::vector<logs::ObservedLog> both{{.file = "mutated.log", .sha256 = "", .contents = contents}, changed};
    logs::combine_scrapes(both);
  } catch (const InputError&) {
  }
}

}  // namespace foredraft::tests
