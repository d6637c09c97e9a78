// SPDX-License-Identifier: Apache-2.0
#include "logs/setups.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/arms.hpp"
#include "logs/captions.hpp"
#include "logs/launches.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"

namespace foredraft::logs {
namespace {

/// Tables of one setup.
struct Setup {
  std::string words = {};  ///< setup_words() of their captions
  std::string name = {};
  std::vector<Observation> runs = {};  ///< windows and requests are pooled
};

bool is_part(const Observation& one) { return one.span != Span::run; }

/// Adds a run; a window or request to one of its kind, of which some are enough.
void add_run(Observation run, std::vector<Observation>& runs) {
  constexpr std::size_t kinds = 64;
  if (is_part(run)) {
    const bool whole = !run.partial.value_or(false) && run.requests.value_or(1.0) >= 1.0;
    if (!whole) run.times = {};
    run.partial = std::nullopt;
    run.stratum.context_tokens = std::nullopt;
    const auto same = std::ranges::find_if(runs, [&](const Observation& one) { return may_be_pooled(one, run); });
    if (same != runs.end()) {
      *same = pooled(*same, std::move(run));
      return;
    }
    if (runs.size() == kinds) return;
  }
  runs.push_back(std::move(run));
}

/// Whether two runs that would be pooled have different values: some two have a ratio above `most`.
bool differ(const Observation& one, const Observation& other, double most) {
  constexpr double few_steps = 20.0;
  using Values = std::array<std::optional<double>, 4>;
  const auto values = [](const Observation& run) {
    if (is_part(run) && run.acceptance && all_steps(*run.acceptance) < few_steps) return Values{};
    return Values{run.times.tpot_ms, run.times.iteration_ms, run.times.output_tokens_per_s,
                  run.acceptance ? tokens_per_iteration(*run.acceptance) : run.acceptance_length};
  };
  const auto first = values(one), second = values(other);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] && second[i] && std::max(*first[i], *second[i]) > most * std::min(*first[i], *second[i])) return true;
  }
  return false;
}

/// True if some runs are without and some with speculation.
bool are_both_arms(std::span<const Observation> runs) {
  const auto is = [&](Decoding decoding) {
    return std::ranges::any_of(runs, [&](const Observation& one) { return one.decoding == decoding; });
  };
  return is(Decoding::plain) && is(Decoding::speculative);
}

Observation with_drafter(const Observation& of, const std::optional<std::string>& drafter) {
  Observation run = of;
  run.drafter = drafter;
  return run;
}

/// Whether tables are of different setups: both have the same run with other values; or they share no run, both have
/// both arms, and their captions have other words.
bool are_apart(const Setup& one, const Setup& other) {
  constexpr double repeated = 1.1, rounded = 1.02;
  constexpr std::size_t enough = 64;  // runs of a table
  const bool both = are_both_arms(one.runs) && are_both_arms(other.runs);
  bool shared = false;
  const auto some = [&](const Setup& of) { return std::span(of.runs).first(std::min(of.runs.size(), enough)); };
  for (const Observation& first : some(one)) {
    for (const Observation& second : some(other)) {
      const bool one_names_drafter = first.drafter.has_value() != second.drafter.has_value();
      if (!may_be_pooled(first, one_names_drafter ? with_drafter(second, first.drafter) : second)) continue;
      if (differ(first, second, both && !is_part(first) ? rounded : repeated)) return true;
      shared = true;
    }
  }
  return both && !shared && one.words != other.words;
}

/// The words of a caption that tell setups apart: all but those of arms, repetitions and loads.
std::string setup_words(std::string_view caption) {
  static const RE2 load(R"(\b(?:concurrency|conc|batch(?: size)?|bs|b|np|users?|clients?) \d+\b)"
                        R"(|\b(?:\d+(?: concurrent| parallel)?|single|one) (?:users?|clients?|requests?|streams?)\b)");
  std::string words = without_arm(caption);
  RE2::GlobalReplace(&words, load, "");
  return std::string(trimmed(words));
}

/// A caption without the marks of a heading.
std::string name_in(std::string_view caption) {
  constexpr std::string_view marks = " #*_:.`";
  caption.remove_prefix(std::min(caption.find_first_not_of(marks), caption.size()));
  return std::string(caption.substr(0, caption.find_last_not_of(marks) + 1));
}

/// "Chat" of "3. Results ### 3.2 Chat": the last heading of a caption, without its number.
std::string words_of_last_heading(const std::string& name) {
  static const RE2 number(R"(^(?:(?:\d+\.)+\d*|\d+\)) +)");
  const std::size_t at = name.rfind("# ");
  std::string last = at == std::string::npos ? name : name.substr(at + 2);
  RE2::Replace(&last, number, "");
  return last;
}

/// `sections`: the parts are those below headings or commands, not tables.
void keep_apart(std::span<const ReadTable> tables, bool sections, LogContents& contents) {
  constexpr std::size_t told = 24;  // characters of a name that answers show
  static const RE2 repetition(
      R"((?i)\b(?:run|trial|try|rep(?:eat)?|round|seed)[ #:=]*\d|\bagain\b|\d(?:st|nd|rd|th) run)");
  std::vector<Setup> setups;
  std::vector<std::size_t> of_table;
  for (const ReadTable& table : tables) {
    Setup here{.words = setup_words(table.caption), .name = table.name.empty() ? name_in(table.caption) : table.name};
    const std::size_t inner = here.name.rfind('\n') + 1;  // the last of headings within one another
    if (here.name.size() > told) here.name.erase(0, inner);
    RE2::GlobalReplace(&here.name, "\n", ": ");
    for (const Observation& run : contents.observations) {
      if (run.line >= table.first_line && run.line <= table.last_line) add_run(run, here.runs);
    }
    const bool repeated = !table.name.empty() || RE2::PartialMatch(here.name, repetition);
    const auto same = std::ranges::find_if(
        setups, [&](const Setup& one) { return one.words == here.words && (repeated || !are_apart(one, here)); });
    of_table.push_back(static_cast<std::size_t>(same - setups.begin()));
    if (same != setups.end()) {
      same->runs.insert(same->runs.end(), here.runs.begin(), here.runs.end());
      if (table.name.empty() && here.name != same->name && !here.words.empty())
        same->name = here.words;  // they name arms, too
      continue;
    }
    const auto taken = [&](const std::string& name) {
      return std::ranges::any_of(setups,
                                 [&](const Setup& one) { return one.name.substr(0, told) == name.substr(0, told); });
    };
    if (const std::string last = words_of_last_heading(here.name); !last.empty() && !taken(last)) here.name = last;
    if (here.name.empty() || taken(here.name))
      here.name = fmt::format("{} {}{}{}", sections ? "part" : "table", of_table.size(), here.name.empty() ? "" : ": ",
                              here.name);
    setups.push_back(std::move(here));
  }
  bool apart = false;
  for (std::size_t i = 0; i < setups.size(); ++i) {
    for (std::size_t j = i + 1; j < setups.size(); ++j) apart = apart || are_apart(setups[i], setups[j]);
  }
  const auto is_plain = [](const Observation& run) { return run.decoding == Decoding::plain; };
  const bool parts = sections && std::ranges::any_of(contents.observations, is_part);
  const bool arms_of = sections && (parts || std::ranges::any_of(contents.observations, is_plain)) &&
                       std::ranges::none_of(setups, [](const Setup& one) { return are_both_arms(one.runs); });
  for (std::size_t i = 0; apart && i < of_table.size(); ++i) {
    for (Observation& run : contents.observations) {
      if (run.line < tables[i].first_line || run.line > tables[i].last_line || (arms_of && is_plain(run))) continue;
      auto& kind = arms_of ? run.drafter : run.stratum.category;
      kind = setups[of_table[i]].name + (kind && !arms_of ? " / " + *kind : "");
      if (parts && !arms_of) run.span = Span::run;  // whose kinds are kept apart
    }
  }
}

}  // namespace

void keep_tables_apart(std::span<const ReadTable> tables, LogContents& contents) {
  keep_apart(tables, false, contents);
}

std::string section_in(std::string_view line, bool fenced) {
  constexpr std::size_t max_words = 120;
  static const RE2 tag("<[^>]*>");
  static const RE2 of_log(R"((?i)\d:\d\d|\b(?:info|warn(?:ing)?|error|debug)\b|^[\[({<|#])");
  std::string words(line);
  RE2::GlobalReplace(&words, tag, "");
  if (words.size() > max_words || RE2::PartialMatch(words, of_log)) return "";
  if (words.starts_with("$ ") || words.starts_with("./")) return words;
  static const RE2 version(R"((?i)\W*(?:build|version|commit|branch|release)[ #:=]*\w[\w.-]{0,24}\W*)");
  const bool caption =
      fenced || words.ends_with(':') || words.ends_with(":**") || RE2::FullMatch(words, version);  // "Build 9159"
  return caption ? "####### " + words : "";
}

void note_section(std::vector<LogSection>& sections, LogSection section) {
  constexpr std::size_t max_sections = 256, max_words = 400;
  section.words.resize(std::min(section.words.size(), max_words));
  const bool again = !sections.empty() && sections.back().words == section.words;
  if (!again && sections.size() < max_sections) sections.push_back(std::move(section));
}

void keep_sections_apart(std::span<const LogSection> sections, LogContents& contents) {
  static const RE2 tables(R"((?:.* )?(?:table|csv|prose)(?: .*)?)");
  static const RE2 counts(
      R"((?i)[#\W]*(?:(?:the|an?|same|first|second|third|next|another|once|more|again|after|before|with|without|warm|cold)"
      R"(|warm-?up|run|log|\d+(?:st|nd|rd|th)?)\W*)+)");
  const bool parts = std::ranges::any_of(contents.observations, is_part);
  const bool several = !parts && contents.format.find(' ') != std::string::npos;
  if (several || RE2::FullMatch(contents.format, tables) || !contents.scrapes.empty()) return;
  const auto level = [](std::string_view words) { return words.find_first_not_of('#'); };
  constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
  std::vector<ReadTable> all(1, ReadTable{.last_line = end});
  std::vector<std::string_view> above;  // the headings of this part, the widest first
  for (const LogSection& section : sections) {
    if (RE2::FullMatch(section.words, counts) || (parts && !section.apart)) continue;
    const auto has_run = [&](const Observation& run) {
      return run.line >= all.back().first_line && run.line < section.line;
    };
    if (std::ranges::any_of(contents.observations, has_run)) {
      all.back().last_line = section.line - 1;
      all.push_back({.first_line = section.line, .last_line = end});
    }
    ReadTable& part = all.back();
    if (level(section.words) == 0) {
      if (part.caption.empty()) part.name = fmt::format("line {}", section.line);
      if (!part.name.empty()) part.caption += section.words;
      continue;
    }
    std::erase_if(above, [&](std::string_view one) { return level(one) >= level(section.words); });
    above.push_back(section.words);
    part.name.clear();
    part.caption.clear();
    for (const std::string_view one : above)
      part.caption +=
          part.caption.empty() ? std::string(one) : (level(one) > max_heading_level ? ": " : "\n") + name_in(one);
  }
  keep_apart(all, true, contents);
}

void keep_rows_apart(LogContents& contents) {
  constexpr double otherwise = 2.0;  // more than repetitions differ
  constexpr std::size_t enough = 64;
  std::vector<Observation>& runs = contents.observations;
  const bool plain = std::ranges::any_of(runs, [](const Observation& one) { return one.decoding == Decoding::plain; });
  if (contents.format != "table" || plain || runs.size() > enough) return;
  std::vector<bool> apart(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (std::size_t j = 0; j < runs.size(); ++j) {
      apart[i] = apart[i] || (may_be_pooled(runs[i], runs[j]) && differ(runs[i], runs[j], otherwise));
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto& kind = runs[i].stratum.category;
    if (apart[i]) kind = fmt::format("line {}{}{}", runs[i].line, kind ? " / " : "", kind.value_or(""));
  }
}

void tell_unused_rows(LogContents& contents) {
  const auto is_unknown = [](const Observation& one) { return one.decoding == Decoding::unknown; };
  const auto first = std::ranges::find_if(contents.observations, is_unknown);
  const auto unknown = std::ranges::count_if(contents.observations, is_unknown);
  if (contents.format != "table" || unknown == 0 || unknown == std::ssize(contents.observations)) return;
  contents.warnings.push_back(
      {.code = "W18",
       .line = first->line,
       .message = fmt::format("{} not compared: call those that speculate \"MTP\", the others \"baseline\"",
                              unknown == 1 ? "a row is" : fmt::format("{} rows are", unknown))});
}

}  // namespace foredraft::logs
