// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "latency/devices/device_registry.hpp"

namespace foredraft::latency {
namespace {

/// Words that do not distinguish devices.
constexpr std::array<std::string_view, 50> idle_words{
    "nvidia", "geforce", "tesla",    "quadro",    "amd",         "radeon", "instinct",   "apple",     "intel", "habana",
    "google", "huawei",  "cloud",    "rtx",       "gtx",         "rx",     "arc",        "dgx",       "hgx",   "agx",
    "grace",  "hopper",  "ampere",   "volta",     "turing",      "pascal", "generation", "superchip", "gpu",   "gpus",
    "card",   "desktop", "graphics", "developer", "workstation", "ws",     "edition",    "kit",       "oam",   "w/",
    "tensor", "core",    "cores",    "with",      "the",         "memory", "vram",       "unified",   "dual",  "slot"};
constexpr std::array<std::string_view, 3> memory_kinds{"hbm", "gddr", "lpddr"};
/// Letters that belong to the number after them: gb200 is one word, rtx4090 is two.
constexpr std::array<std::string_view, 4> joined_letters{"gb", "gh", "mi", "sxm"};
constexpr std::string_view separators = " \t-_()+,";
/// Relative tolerance of equal memory sizes: GB or GiB, with or without error correction.
constexpr double same_size = 0.07;
constexpr std::size_t most_alike = 6;

struct DeviceNameWords {
  std::vector<std::string> words;   ///< sorted
  std::optional<double> memory_gb;  ///< from a word such as "80gb"
};

struct NamedSheet {
  const DeviceSheet* sheet;
  std::string joined;  ///< without separators
  DeviceNameWords words;
};

bool is_digit_of_name(char character) { return character >= '0' && character <= '9'; }
bool is_letter_of_name(char character) { return character >= 'a' && character <= 'z'; }

std::vector<std::string> split_at_separators(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char character : name) {
    if (separators.find(character) != std::string_view::npos) {
      words.emplace_back();
    } else {
      words.back() += character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
    }
  }
  std::erase(words, "");
  return words;
}

/// Parses "80gb", "80g", "80gib".
std::optional<double> memory_size_gb(const std::string& word) {
  const std::size_t unit = word.find_first_not_of("0123456789.");
  if (unit == 0 || unit == std::string::npos || !is_digit_of_name(word.front())) return std::nullopt;
  const std::string_view letters = std::string_view(word).substr(unit);
  if (letters != "gb" && letters != "g" && letters != "gib") return std::nullopt;
  double size = 0.0;
  const auto read = std::from_chars(word.data(), word.data() + unit, size);
  return read.ec == std::errc() ? std::optional(size) : std::nullopt;
}

bool is_idle(std::string_view word) {
  return std::ranges::find(idle_words, word) != idle_words.end() ||
         std::ranges::any_of(memory_kinds, [&](std::string_view kind) { return word.starts_with(kind); });
}

/// Splits "rtx4090" into "rtx" and "4090", "3090ti" into "3090" and "ti". Single letters are not split off: "h100",
/// "910b".
std::vector<std::string> split_glued(const std::string& word) {
  if (!std::ranges::all_of(word, [](char c) { return is_digit_of_name(c) || is_letter_of_name(c); })) return {word};
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < word.size()) {
    const bool digits = is_digit_of_name(word[begin]);
    std::size_t end = begin;
    while (end < word.size() && is_digit_of_name(word[end]) == digits) ++end;
    const std::string run = word.substr(begin, end - begin);
    const std::string_view before = parts.empty() ? std::string_view() : std::string_view(parts.back());
    const bool joins = digits ? before.size() == 1 || std::ranges::find(joined_letters, before) != joined_letters.end()
                              : run.size() == 1 && !before.empty();
    if (joins) {
      parts.back() += run;
    } else {
      parts.push_back(run);
    }
    begin = end;
  }
  return parts;
}

DeviceNameWords words_of_device(std::string_view name) {
  std::vector<std::string> parts = split_at_separators(name);
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const bool number = parts[i].find_first_not_of("0123456789.") == std::string::npos;
    const bool apart = (number && (parts[i + 1] == "gb" || parts[i + 1] == "gib")) ||  // "80 GB"
                       (parts[i] == "max" && parts[i + 1] == "q");
    if (!apart) continue;
    parts[i] += parts[i + 1];
    parts[i + 1].clear();
  }
  DeviceNameWords read;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (const auto memory = memory_size_gb(part)) {
      read.memory_gb = memory;
      continue;
    }
    if (is_idle(part)) continue;
    for (std::string& word : split_glued(part)) {
      if (is_idle(word)) continue;
      if (word.starts_with("sxm")) word = "sxm";
      read.words.push_back(std::move(word));
    }
  }
  std::ranges::sort(read.words);
  return read;
}

std::string joined_name(std::string_view name) {
  std::string joined;
  for (const std::string& part : split_at_separators(name)) joined += part;
  return joined;
}

const std::vector<NamedSheet>& named_sheets() {
  static const std::vector<NamedSheet> named = [] {
    std::vector<NamedSheet> all;
    for (const DeviceSheet& sheet : device_registry()) {
      const auto add = [&](const std::string& name) {
        all.push_back({&sheet, joined_name(name), words_of_device(name)});
      };
      add(sheet.name);
      add(sheet.profile.device.name);
      std::ranges::for_each(sheet.aliases, add);
    }
    return all;
  }();
  return named;
}

/// The device with a matching name; null if there is none or several.
template <typename Fits>
const DeviceSheet* only_fitting(const Fits& fits) {
  const DeviceSheet* found = nullptr;
  for (const NamedSheet& one : named_sheets()) {
    if (one.sheet == found || !fits(one)) continue;
    if (found != nullptr) return nullptr;
    found = one.sheet;
  }
  return found;
}

}  // namespace

const DeviceSheet* find_device(std::string_view name) {
  const std::string joined = joined_name(name);
  if (joined.empty()) return nullptr;
  if (const auto* same = only_fitting([&](const NamedSheet& one) { return one.joined == joined; })) return same;
  const DeviceNameWords wanted = words_of_device(name);
  if (wanted.words.empty()) return nullptr;
  const auto has_words = [&](const NamedSheet& one) { return one.words.words == wanted.words; };
  const auto has_words_and_size = [&](const NamedSheet& one) {
    return has_words(one) && one.words.memory_gb == wanted.memory_gb;
  };
  if (const auto* same = only_fitting(has_words_and_size)) return same;
  return only_fitting([&](const NamedSheet& one) {
    if (!has_words(one) || !wanted.memory_gb) return has_words(one);
    constexpr double giga = 1e9;
    const double printed = *one.sheet->profile.device.memory_bytes.value / giga;
    return std::abs(*wanted.memory_gb - printed) <= same_size * printed;
  });
}

std::vector<const DeviceSheet*> devices_like(std::string_view name) {
  const std::vector<std::string> wanted = words_of_device(name).words;
  std::vector<const DeviceSheet*> alike;
  std::size_t most = 0;
  for (const NamedSheet& one : named_sheets()) {
    std::vector<std::string> shared;
    std::ranges::set_intersection(wanted, one.words.words, std::back_inserter(shared));
    const bool with_digit = std::ranges::any_of(
        shared, [](const std::string& word) { return std::ranges::any_of(word, is_digit_of_name); });
    if (shared.empty() || shared.size() < most || (shared.size() < wanted.size() && !with_digit)) continue;
    if (shared.size() > most) alike.clear();
    most = shared.size();
    if (alike.empty() || alike.back() != one.sheet) alike.push_back(one.sheet);
  }
  alike.resize(std::min(alike.size(), most_alike));
  return alike;
}

}  // namespace foredraft::latency
