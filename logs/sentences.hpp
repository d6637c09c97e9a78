// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logs/arms.hpp"
#include "logs/subjects.hpp"

/// Sentences that state speeds: "I get 52 t/s with MTP, 31 t/s without it".
namespace foredraft::logs {

/// A speed, and what the text says about it.
struct SpokenSpeed {
  std::int64_t line = 0;
  std::optional<Arm> arm = {};  ///< empty: no words say whether it is with speculation
  double tokens_per_s = 0.0;
  std::optional<double> rate = {};    ///< of accepted drafts, a fraction
  std::optional<double> length = {};  ///< acceptance length
  std::optional<double> gain = {};    ///< over the one without speculation, as stated
  std::optional<double> load = {};    ///< requests at once, whose speeds are added up
  Subject subject = {};
  std::string requests = {};  ///< load in words; empty: the text names none, or several
  std::string model = {};     ///< the only one that its line names; empty: none
  std::string setup = {};     ///< load, model or line, if the text has several
  bool is_most = false;       ///< "up to 80 tok/s"
  bool is_middle = false;     ///< the middle of "20-50 tok/s"
  bool is_time = false;       ///< stated as a time per token
  bool changes = false;       ///< one of two speeds, of which the second follows a change
  std::size_t pair = 0;       ///< where the second of two speeds stands, of a change or a comparison; 0: neither
};

/// The speeds before and after a change, or of two things, of which no words say which is with speculation.
struct UnnamedChange {
  std::int64_t line = 0;
  double before = 0.0, after = 0.0;  ///< tokens/s
};

/// What a line says.
struct SpokenLine {
  std::vector<SpokenSpeed> speeds = {};
  std::vector<UnnamedChange> unnamed = {};
  std::vector<SpokenSpeed> expected = {};  ///< that nobody measured: expected_in()
  /// Names several requests at once, and not whether a speed is that of one: it may be of all together.
  bool may_be_of_all = false;
};

/// RE2 of words that begin what turns speculation on: "after enabling MTP".
inline constexpr std::string_view enabling =
    R"(\b(?:after|when|once|by|with) (?:i |we )?(?:enabl|activat|add|turn\w* on|switch\w* on|us(?:e|ing)\b))";

/// Whether a text tells what speculation changed, without its speeds: "slower after enabling MTP".
[[nodiscard]] bool tells_effect(std::string_view text);

/// Reads a line. `compares`: the last line above that compares arms, "27B-MTP vs Base 27B", or tells_effect(); empty:
/// none.
[[nodiscard]] SpokenLine spoken_line(std::string_view text, std::int64_t number, std::string_view compares);

}  // namespace foredraft::logs
