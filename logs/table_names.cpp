// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/arms.hpp"
#include "logs/headed_table.hpp"
#include "logs/headings.hpp"
#include "logs/line_fields.hpp"
#include "logs/table_cells.hpp"
#include "logs/table_shapes.hpp"

/// What the names of rows say besides their arm: rows of one arm that only their names tell apart are not pooled.
namespace foredraft::logs {
namespace {

/// "MTP", "TurboQuant" of "MTP + TurboQuant".
std::vector<std::string> sum_of(std::string_view name) {
  std::vector<std::string> parts;
  while (!name.empty()) {
    const std::size_t plus = std::min(name.find('+'), name.size());
    if (const std::string_view part = trimmed(name.substr(0, plus)); !part.empty()) parts.emplace_back(part);
    name.remove_prefix(std::min(plus + 1, name.size()));
  }
  return parts;
}

bool is_same(const Arm& one, const Arm& other) {
  return one.plain == other.plain && one.gamma == other.gamma && one.drafter == other.drafter &&
         one.speculative == other.speculative;
}

/// The words of a name besides those of its arm; empty if they are only numbers.
std::string rest_of(std::string_view name) {
  static const RE2 letter("[a-z]");
  const std::string rest = without_arm(name);
  return RE2::PartialMatch(rest, letter) ? rest : std::string();
}

}  // namespace

/// "MTP + X" beside "MTP" is compared with rows that also have X; a row "X" is one of these, without speculation.
void HeadedTable::tell_sums() {
  std::vector<std::pair<std::string, Arm>> alone;  // names of one part and their arms
  for (const TableRow& row : rows_) {
    const std::string name = bare_cell(text(row, Meaning::name));
    if (sum_of(name).size() == 1) alone.emplace_back(name, arm_of(row));
  }
  for (const TableRow& row : rows_) {
    const std::string name = bare_cell(text(row, Meaning::name));
    const std::vector<std::string> parts = sum_of(name);
    if (parts.size() < 2 || additions_.contains(name)) continue;
    const Arm arm = arm_of(row);
    const auto names_it = [&](const std::string& part) {
      const Arm named = arm_named(part);
      return named.plain == arm.plain && named.drafter == arm.drafter && named.speculative == arm.speculative;
    };
    const auto of_arm = std::ranges::find_if(parts, names_it);
    const auto is_it = [&](const auto& other) { return is_same(other.second, arm); };
    if (of_arm == parts.end() || std::ranges::none_of(alone, is_it)) continue;
    static const RE2 drafting("(?i).*(?:tree|draft|selector|adaptive|budget|top-?k|verif).*");  // no run without it
    std::string added;
    for (auto part = parts.begin(); part != parts.end(); ++part) {
      if (part != of_arm) added += (added.empty() ? "" : " + ") + *part;
    }
    const bool is_row = std::ranges::any_of(alone, [&](const auto& other) { return other.first == added; });
    if (RE2::FullMatch(added, drafting)) continue;
    if (of_arm == parts.begin() || is_row) additions_.emplace(name, added);
  }
  for (const TableRow& row : rows_) {
    const std::string name = bare_cell(text(row, Meaning::name));
    const bool added = std::ranges::any_of(additions_, [&](const auto& one) {
      return one.first != name && in_lower_case(one.second) == in_lower_case(name);
    });
    if (!added || arm_of(row).gamma || arm_of(row).plain) continue;
    additions_.emplace(name, name);
    arms_.insert_or_assign({std::string(text(row, Meaning::gamma)), std::string(text(row, Meaning::name))},
                           Arm{.plain = true});
  }
  tell_bare_setup();
}

/// "X" beside "X + MTP" is the run without speculation, if no row is called plain and every other row drafts, or is of
/// an engine that is not known to.
void HeadedTable::tell_bare_setup() {
  static const RE2 note(R"( *\([^()]*\))");
  const auto name_of_row = [&](const TableRow& row) { return bare_cell(text(row, Meaning::name)); };
  std::set<std::string> drafted_for;
  for (const TableRow& row : rows_) drafted_for.insert(setup_drafted_for(name_of_row(row)));
  drafted_for.erase("");
  const auto is_bare = [&](const TableRow& row) {
    std::string name = in_lower_case(name_of_row(row));
    RE2::GlobalReplace(&name, note, "");
    return drafted_for.contains(name);
  };
  const auto is_other = [&](const TableRow& row) {
    const Arm arm = arm_of(row);
    return arm.plain || ((arm.drafter || arm.speculative) && !arm_in_text(name_of_row(row)));
  };
  for (const TableRow& row : rows_) {
    if (!is_bare(row) && is_other(row)) return;
  }
  for (const TableRow& row : rows_) {
    if (is_bare(row))
      arms_.insert_or_assign({std::string(text(row, Meaning::gamma)), std::string(text(row, Meaning::name))},
                             Arm{.plain = true});
  }
}

/// Rows of several engines, or models and devices where a column of these names the rows, are of several setups: the
/// speculation of one is not compared with the plain run of another. A name that begins with another is of the same.
void HeadedTable::tell_setups() {
  static const RE2 engine(
      R"((?i)(?:.*[^a-z])?((?:vllm|sglang|tensorrt-?llm|trt-?llm|(?:ik_)?llama\.cpp|ollama|lm ?studio|mlx(?:[-_](?:lm|vlm))?)"
      R"(|exllama\w*|tgi|lmdeploy|k?transformers)(?:[ v]*\d+(?:\.\d+)+)?)(?:[^a-z].*)?)");
  static const RE2 model(
      R"((?i)\W*((?:qwen|llama|gemma|mistral|deepseek|glm|phi|granite|nemotron)[\w.]*(?:[- ][\w.]+)*?[- ]\d+(?:\.\d+)?b)"
      R"((?:-a\d+b)?)\b(.*))");
  static const RE2 drafts("(?i)\\W*(?:(?:as|is|the|a) )*draft.*");
  const bool in_names = std::ranges::any_of(rows_, [&](const TableRow& row) {
    return arm_of(row).plain && RE2::FullMatch(bare_cell(text(row, Meaning::name)), model);
  });
  std::map<std::string, std::string> words;  // by name
  std::map<std::string, std::string> begin;  // by words
  for (const TableRow& row : rows_) {
    const std::string name = bare_cell(text(row, Meaning::name));
    std::string setup, rest;
    if (names_subjects_) {
      setup = trimmed(std::string_view(name).substr(0, name.find_first_of("+,(;")));
    } else if (!RE2::FullMatch(name, engine, &setup) &&
               !(in_names && RE2::FullMatch(name, model, &setup, &rest) && !RE2::FullMatch(rest, drafts))) {
      continue;
    }
    if (const std::string of = without_arm(setup); !of.empty()) begin.emplace(words[name] = of, setup);
  }
  constexpr std::size_t max_setups = 256;  // more are no engines or models
  if (begin.size() > max_setups) return;
  std::set<std::string> several;
  for (const auto& entry : words) {
    const std::string& of = entry.second;
    const auto shortest = std::ranges::find_if(
        begin, [&of](const auto& one) { return of == one.first || of.starts_with(one.first + " "); });
    setups_[entry.first] = shortest->second;
    several.insert(shortest->second);
  }
  if (several.size() < 2) setups_.clear();
}

/// Whether each speed is a column of tokens over one of the seconds of the whole run, which has several requests: it is
/// that of all together, and the number of requests is no load.
bool HeadedTable::tell_whole_runs(std::size_t speed) {
  static const RE2 tokens(R"((?i)(?:total[-_ ])?(?:(?:completion|output|generated|decoded|total)[-_ ])?tok(?:en)?s?)");
  static const RE2 seconds(
      R"((?i)(?:total|wall|elapsed|run|bench\w*)?[-_ ]?(?:clock[-_ ]?)?(?:time|duration|seconds|elapsed|sec|s)?(?:[-_ ]\(?s(?:ec(?:ond)?s)?\)?)?)");
  static const RE2 requests(
      R"((?i)(?:num[-_ ]|n[-_ ]|total[-_ ]|completed[-_ ]|successful[-_ ])?(?:requests|prompts|samples|questions)(?:[-_ ]completed)?)");
  static const RE2 most("(?i)max[-_ ](?:num[-_ ]seqs|running|batch(?:[-_ ]size)?)");
  const auto columns_with = [&](const RE2& heading) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (RE2::FullMatch(columns_[i].heading, heading)) found.push_back(i);
    }
    return found;
  };
  const auto all_rows = [&](const auto& holds) { return !rows_.empty() && std::ranges::all_of(rows_, holds); };
  const auto number = [](const TableRow& row, std::size_t at) {
    return number_of_cell(row.cells[at]).value.value_or(0.0);
  };
  const auto several = [&](std::size_t at) {
    return all_rows([&](const TableRow& row) { return number(row, at) > 1.0; });
  };
  if (std::ranges::none_of(columns_with(requests), several)) return false;
  for (const std::size_t of : columns_with(tokens)) {
    for (const std::size_t in : columns_with(seconds)) {
      constexpr double rounded = 0.01;
      const auto is_quotient = [&](const TableRow& row) {
        const double stated = number(row, speed) * number(row, in);
        return stated > 0.0 && std::abs(number(row, of) - stated) <= rounded * stated;
      };
      if (!all_rows(is_quotient)) continue;
      for (Column& column : columns_) {
        if (column.meaning == Meaning::concurrency && RE2::FullMatch(column.heading, requests))
          column.meaning = Meaning::ignored;
        if (!has(Meaning::concurrency) && RE2::FullMatch(column.heading, most)) column.meaning = Meaning::concurrency;
      }
      return true;
    }
  }
  return false;
}

/// Times of whole answers by arm, if nothing else was measured: their ratios are speedups, with which a column of these
/// agrees. Then a row that gains is not plain, whatever its name says: "Spec + baseline kernel".
void HeadedTable::tell_answers() {
  static const RE2 speedup("(?i)speed-?up(?: \\(x\\))?");
  static const RE2 drafter("(?i).*(?:spec|draft|\\bsd\\b|" + std::string(names_of_drafters) + ").*");
  constexpr double rounded = 0.02;
  const auto is_other = [](const Column& one) {
    return one.meaning >= Meaning::speed && one.meaning < Meaning::length && one.meaning != Meaning::duration;
  };
  const auto is_gain = [](const Column& one) { return RE2::FullMatch(one.heading, speedup); };
  const auto gains = std::ranges::find_if(columns_, is_gain);
  const auto is_time = [&](const Column& one) {
    return names_answer_time(one.heading) || (gains != columns_.end() && names_phase_time(one.heading));
  };
  auto time = std::ranges::find_if(columns_, is_time);
  if (time == columns_.end() || std::ranges::any_of(columns_, is_other)) return;
  const auto number = [&](const TableRow& row, const auto& column) {
    const std::string& cell = row.cells[static_cast<std::size_t>(column - columns_.begin())];
    return clock_in(cell) ? 0.0 : number_of_cell(cell).value.value_or(0.0);
  };
  const auto gain_of = [&](const TableRow& row) { return gains == columns_.end() ? 1.0 : number(row, gains); };
  const auto is_plain = [&](const TableRow& row) {
    return arm_of(row).plain && std::abs(gain_of(row) - 1.0) <= rounded;
  };
  const auto names = at(Meaning::name), lengths = at(Meaning::gamma);
  const auto drafts = [&](std::optional<std::size_t> column) {
    return column &&
           (RE2::FullMatch(columns_[*column].heading, drafter) || std::ranges::any_of(rows_, [&](const TableRow& row) {
              return !is_plain(row) && RE2::FullMatch(row.cells[*column], drafter);
            }));
  };
  if (!drafts(names) && !drafts(lengths)) return;
  const auto plain = std::ranges::find_if(rows_, is_plain);
  const auto agrees = [&](const TableRow& row) {
    const double ms = number(row, time), gain = gain_of(row);
    return ms > 0.0 && (gains == columns_.end() || std::abs(number(*plain, time) / ms - gain) <= rounded * gain);
  };
  if (plain == rows_.end() || std::ranges::all_of(rows_, is_plain)) return;
  while (time != columns_.end() && !std::ranges::all_of(rows_, agrees))
    time = std::find_if(time + 1, columns_.end(), is_time);
  if (time == columns_.end()) return;
  for (const TableRow& row : rows_) {
    if (arm_of(row).plain && !is_plain(row))
      arms_.insert_or_assign({std::string(text(row, Meaning::gamma)), std::string(text(row, Meaning::name))},
                             Arm{.speculative = true});
  }
  answers_ = true;
  time->meaning = Meaning::tpot;
  if (!(time->unit > 0.0)) time->unit = time->heading.find("(ms)") == std::string::npos ? 1000.0 : 1.0;
}

/// What a row is of, besides its name. `lengths`: also of how many tokens, by which runs are told apart only roughly.
std::string HeadedTable::conditions_of(const TableRow& row, bool lengths) const {
  constexpr std::array<Meaning, 8> others{Meaning::category,      Meaning::concurrency,   Meaning::request_rate,
                                          Meaning::prompt_tokens, Meaning::output_tokens, Meaning::context_tokens,
                                          Meaning::temperature,   Meaning::gamma};
  const Arm arm = arm_of(row);
  std::string key = fmt::format("{} {} {} {} {}", arm.plain, arm.gamma.value_or(-1.0), arm.drafter.value_or(""),
                                arm.tree ? to_string(*arm.tree) : "", temperature_of(row).value_or(-1.0));
  const auto is_length = [](Meaning one) { return one >= Meaning::prompt_tokens && one <= Meaning::context_tokens; };
  for (const Meaning other : others) {
    if (lengths || !is_length(other)) key += "|" + bare_cell(text(row, other));
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].meaning == Meaning::subject) key += "|" + row.cells[i];
  }
  return key;
}

/// A column of unknown words, or of sizes, is that of what is measured if only it tells rows of an arm apart, and plain
/// and drafting rows share some of it; if they share none, it is a part of the names of those that draft. So is any
/// first column that has the same cells in plain and drafting rows, such as "32K (2 runs)".
void HeadedTable::tell_unknown() {
  static const RE2 remark(
      R"((?i).*(?:name of the row|note|comment|remark|verdict|result|status|date|commit|sample|\btext|why|link|log|source|change|bottleneck|effect).*)");
  static const RE2 words("(?i)[^\\d]*[a-z]{2}.*", RE2::Latin1);
  static const RE2 size_heading(
      "(?i).*(?:max|ctx|context|len|seq|batch|tokens|\\btp\\b|threads|layers|gpus?|bits?|depth|limit).*");
  static const RE2 size("(?i)\\d[\\d,]*[km]?"), none("(?i)n/?a|n a|none");
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Meaning meaning = columns_[i].meaning;
    const bool lengths = meaning == Meaning::prompt_tokens || meaning == Meaning::output_tokens ||
                         meaning == Meaning::context_tokens;  // that were chosen
    if ((meaning != Meaning::ignored && !lengths) || columns_[i].heading.empty() ||
        RE2::FullMatch(columns_[i].heading, remark))
      continue;
    const bool sizes = lengths || RE2::FullMatch(columns_[i].heading, size_heading);
    std::map<std::string, std::string> known;  // the words of the first row, by everything else that is known
    std::set<std::string> plain, drafts;
    bool apart = false, all = true, metrics = false;
    for (const TableRow& row : rows_) {
      const std::string cell = without_repetition(bare_cell(row.cells[i]));
      const bool tells = RE2::FullMatch(cell, words) || (sizes && RE2::FullMatch(bare_cell(row.cells[i]), size));
      const Arm arm = arm_of(row);
      metrics = metrics || column_of(cell).meaning >= Meaning::speed;
      all = all && !metrics && (tells || (arm.plain && (cell.empty() || RE2::FullMatch(cell, none))));
      (arm.plain ? plain : drafts).insert(cell);
      const auto first =
          known.emplace(conditions_of(row, true) + "|" + std::string(text(row, Meaning::name)), cell).first;
      apart = apart || first->second != cell || (lengths && row.cells[i] != rows_.front().cells[i]);
    }
    static const RE2 counts("(?i)(?:#|no\\.?|id|idx|index|seed|iter\\w*|sample|date|time)");
    const bool first = i == 0 || (i == 1 && columns_.front().meaning == Meaning::name);
    const bool pairs = first && !metrics && plain == drafts && plain.size() > 1 &&
                       column_of(columns_[i].heading).meaning == Meaning::ignored &&
                       !RE2::FullMatch(columns_[i].heading, counts);
    if ((!all && !pairs) || !apart || (lengths && plain != drafts)) continue;
    const bool shared = std::ranges::any_of(plain, [&](const std::string& one) { return drafts.contains(one); });
    if (plain.empty() || shared) {
      columns_[i].meaning = Meaning::subject;
    } else {
      naming_ = i;
    }
  }
}

/// The words of each name besides those of its arm, by name; without those of its load, "c16" of 16 requests, if a word
/// of every name with a load has it: the column of loads says it already.
std::map<std::string, std::string> HeadedTable::kinds_of_names() const {
  std::map<std::string, std::string> kinds, without_load;
  for (const TableRow& row : rows_) {
    const std::string name = bare_cell(text(row, Meaning::name)), kind = kind_in(name);
    kinds.emplace(name, kind);
    const auto load = whole(value(row, Meaning::concurrency));
    std::string rest = " " + kind + " ";
    const bool removed = load && RE2::Replace(&rest, fmt::format(" (?:[a-z]+0*{0}|{0}[a-z]+) ", *load), " ");
    if (removed) without_load.emplace(name, trimmed(rest));
  }
  return without_load.size() == kinds.size() ? without_load : kinds;
}

/// Rows of one arm that only their names tell apart are of several kinds of prompts or settings, if the names of plain
/// and of drafting rows have the same words besides those of their arms; else each is an arm of its own.
void HeadedTable::tell_namesakes() {
  if (!has(Meaning::name)) return;
  std::map<std::string, std::set<std::string>> names, whole_names;  // by everything else that is known of a row
  std::set<std::string> plain, drafts;
  const std::map<std::string, std::string> kinds = kinds_of_names();
  for (const TableRow& row : rows_) {
    const std::string name = bare_cell(text(row, Meaning::name));
    const Arm arm = arm_of(row);
    static const RE2 repetition("[#.\\d]*");  // of columns such as "rep"
    if (RE2::FullMatch(name, repetition) || additions_.contains(name)) continue;
    names_drafters_ = names_drafters_ || (!arm.plain && arm.drafter);
    (arm.plain ? plain : drafts).insert(kinds.at(name));
    std::string key = conditions_of(row, false);
    if (const auto setup = setups_.find(name); setup != setups_.end()) key += "|" + setup->second;
    names[key].insert(without_repetition(name));
    whole_names[key].insert(name);
  }
  if (plain.size() > 1 && plain == drafts) {
    for (const TableRow& row : rows_) {
      const std::string name = bare_cell(text(row, Meaning::name));
      if (!name.empty()) additions_.emplace(name, kinds.at(name));
    }
    return;
  }
  tell_versions();
  for (const auto& [key, of_key] : names) {
    if (of_key.size() > 1) labels_.insert(whole_names[key].begin(), whole_names[key].end());
  }
  label_codes();
}

/// "A-1" of K = 2 is called so, too, where "A-2" and "A-3" of K = 4 need their whole names: "A" is no drafter then.
void HeadedTable::label_codes() {
  std::set<std::string> first_words;
  static const RE2 known("(?:" + std::string(names_of_drafters) + "|spec|draft).*");
  const auto of_code = [&](const TableRow& row) {
    const Arm arm = arm_of(row);
    const std::string drafter = arm.drafter.value_or("");
    return arm.plain || RE2::FullMatch(drafter, known) ? std::string() : drafter;
  };
  for (const TableRow& row : rows_) {
    if (labels_.contains(bare_cell(text(row, Meaning::name)))) first_words.insert(of_code(row));
  }
  first_words.erase("");
  for (const TableRow& row : rows_) {
    if (first_words.contains(of_code(row))) labels_.insert(bare_cell(text(row, Meaning::name)));
  }
}

/// Plain rows whose names have other words besides those of their arm are of several versions, no repetitions: "v1, no
/// spec", "v2, no spec". A drafting row is compared with the plain row of its words; or with the one that has none, if
/// no words are those of both.
void HeadedTable::tell_versions() {
  std::map<std::string, std::set<std::string>> known;  // words of plain rows, by everything else that is known of them
  std::map<std::string, std::set<std::string>>
      plain;                                        // the same by "=" and these words, or "~" and those without notes
  std::map<std::string, std::string> words_of_row;  // by name
  const auto without_notes = [](std::string name) {
    static const RE2 brackets(R"( *\([^)]*\))");
    RE2::GlobalReplace(&name, brackets, "");
    return name;
  };
  for (const TableRow& row : rows_) {
    const std::string name = bare_cell(text(row, Meaning::name)), rest = rest_of(name);
    if (additions_.contains(name)) continue;
    words_of_row.emplace(name, rest);
    if (!arm_of(row).plain) continue;
    const auto setup = setups_.find(name);
    known[conditions_of(row, true) + (setup == setups_.end() ? "" : setup->second)].insert(rest);
    plain["=" + rest].insert(rest);
    plain["~" + rest_of(without_notes(name))].insert(rest);
  }
  if (std::ranges::none_of(known, [](const auto& one) { return one.second.size() > 1; })) return;
  for (auto& [name, rest] : words_of_row) {  // a note that one of the two has, or a draft length, tells no version
    const std::string noted = without_notes(name);
    for (const std::string& some : {"=" + rest, "~" + rest, "=" + rest_of(noted), "=" + kind_in(noted)}) {
      const auto of = plain.find(some);
      if (of == plain.end() || of->second.size() > 1) continue;
      rest = *of->second.begin();
      break;
    }
  }
  bool shared = false;
  for (const TableRow& row : rows_) {
    const std::string& rest = words_of_row[bare_cell(text(row, Meaning::name))];
    shared = shared || (!arm_of(row).plain && !rest.empty() && plain.contains("=" + rest));
  }
  for (const TableRow& row : rows_) {
    const std::string name = bare_cell(text(row, Meaning::name));
    const bool of_all = !shared && plain.contains("=") && !arm_of(row).plain;
    if (!of_all && !words_of_row[name].empty()) additions_.emplace(name, words_of_row[name]);
  }
}

/// A small letter, "t=0.1", is a threshold of the drafter or a number of threads, unless plain rows state it too.
void HeadedTable::tell_temperatures() {
  static const RE2 letter(R"(.*\bt ?=? ?\d.*)");
  small_t_ = has(Meaning::temperature) || std::ranges::any_of(rows_, [&](const TableRow& row) {
               return arm_of(row).plain && RE2::FullMatch(text(row, Meaning::name), letter);
             });
}

/// A column "p-min" is part of the arms. Where it names them, a number in it drafts, also 0.
void HeadedTable::tell_threshold() {
  for (std::size_t i = 0; i < columns_.size() && !threshold_; ++i) {
    const bool told = columns_[i].meaning != Meaning::ignored && columns_[i].meaning != Meaning::name;
    if (!told && ends_drafts_early(columns_[i].heading + " 1")) threshold_ = i;
  }
  if (!threshold_ || columns_[*threshold_].meaning != Meaning::name) return;
  for (const TableRow& row : rows_) {
    if (number_of_cell(row.cells[*threshold_]).value)
      arms_.insert_or_assign({std::string(text(row, Meaning::gamma)), std::string(text(row, Meaning::name))},
                             Arm{.speculative = true});
  }
}

/// What may name the drafter of a row, as it is written.
std::string HeadedTable::name_of_drafter(const TableRow& row) const {
  return has(Meaning::name) ? bare_cell(text(row, Meaning::name)) : arm_of(row).drafter.value_or("");
}

/// Whether a row says that K is only the most that is drafted, or drafts as many tokens as it finds.
bool HeadedTable::ends_early(const TableRow& row) const {
  const Arm arm = arm_of(row);
  const bool gives_mean = !arm.gamma && value(row, Meaning::length) && value(row, Meaning::rate);
  return arm.adaptive || value(row, Meaning::mean_drafted) || (gives_mean && looks_tokens_up(name_of_drafter(row))) ||
         (threshold_ && number_of_cell(row.cells[*threshold_]).value.value_or(0.0) > 0.0);
}

/// As its column says; without one, as its name says: "MTP k=2, temp 0.7".
std::optional<double> HeadedTable::temperature_of(const TableRow& row) const {
  const Meaning in = has(Meaning::temperature) ? Meaning::temperature : Meaning::name;
  if (in == Meaning::temperature && value(row, in)) return value(row, in);
  static const RE2 temperature(R"(.*\b(?:(?i:temp(?:erature)?)|T|(t)) ?=? ?(\d(?:\.\d+)?)(?:[^\d.].*)?)");
  std::string small;
  double stated = 0.0;
  const bool states = RE2::FullMatch(bare_cell(text(row, in)), temperature, &small, &stated);
  return states && (small.empty() || small_t_) ? std::optional(stated) : std::nullopt;
}

}  // namespace foredraft::logs
