// SPDX-License-Identifier: Apache-2.0
#include "logs/captions.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/numbers.hpp"
#include "logs/acceptance.hpp"
#include "logs/arm_order.hpp"
#include "logs/launches.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"
#include "logs/serving_runs.hpp"
#include "logs/spoken_options.hpp"
#include "logs/table_shapes.hpp"

namespace foredraft::logs {

namespace {

constexpr std::size_t max_captions = 1024;
constexpr std::size_t max_level = 6;  // of headings

/// "first without MTP:" of "One A100, vLLM 0.12, first without MTP:": the words behind the setup, if they lead to what
/// is below, and only they name an arm.
std::string last_clause(const std::string& text) {
  const std::vector<ArmPhrase> phrases = arm_phrases(text);
  if (phrases.empty() || !trimmed(text).ends_with(':')) return text;
  const std::size_t comma = text.rfind(", ", phrases.front().begin);
  return comma == std::string::npos ? text : text.substr(comma + 2);
}

/// The arm of a long line that leads to a run, if it opens with it: "Baseline deployment (config.yaml), after 50
/// requests:". What follows may add a draft length. More words before the first comma or bracket are those of a
/// sentence.
std::optional<Arm> arm_that_opens(const std::string& text) {
  static const RE2 leads(R"(\W*((?:[\w.+-]+ ){0,2}[\w.+-]+) ?[,(]([^;]*):\W*)");
  std::string opening, rest;
  if (!RE2::FullMatch(text, leads, &opening, &rest)) return std::nullopt;
  auto arm = arm_in_text(opening);
  const auto added = arm_in_text(rest);
  if (!arm || !added) return arm;
  if (arm->plain != added->plain) return std::nullopt;  // "Baseline (later with MTP), ...:" may be of either
  if (!arm->gamma) arm->gamma = added->gamma;
  return arm;
}

}  // namespace

bool may_be_heading(std::string_view line, std::size_t size) {
  constexpr std::size_t max_words = 60;
  static const RE2 enclosed(R"(\s*[=~#+-]{2,} ?[^\s=~#+-].*[^\s=~#+-] ?[=~#+-]{2,}\s*)");
  return size <= max_words || RE2::FullMatch(piece(line), enclosed);
}

std::optional<Arm> arm_in_caption(std::string_view caption) {
  static const RE2 several(  // or options of a command, or a time
      R"((?i).*(?:--\w|\bvs\b|versus|\band\b|\bor\b|compar|speed-?up|against|over|than|/|,.*(?:with|base)).*|.*: *[\d.]+ ?s(?:ec(?:ond)?s?)?\W*)");
  // These name no arm: a data set, the script of a benchmark, the size of a model (another one may have another
  // drafter), a unit.
  static const RE2 no_arm(
      R"((?i)spec[-_ ]?bench|\S*bench\w*\.py\b|\b\d+(?:\.\d+)?b\b|\(t(?:o?ks?|okens?)?/s(?:ec)?\))");
  static const RE2 without("(?i)\\bw/o\\b");
  static const RE2 path("`[^`/]*/[^`]*`");  // of a model, in a command
  static const RE2 repository(R"(\b[A-Za-z][\w.-]{3,}/[A-Za-z][\w.]*-[\w.-]*\d[\w.-]*)");
  static const RE2 list("(?i)(?:^|[^a-z])(?:with|plain|no|spec|draft|" + std::string(words_for_without) + "|" +
                        names_of_plain + "|" + names_of_drafters + ")[\\w.-]*/");  // "baseline/MTP-2"
  const SpokenOptions options = spoken_options(caption);
  if (options.mentions > 1 || arm_order_in(caption)) return std::nullopt;  // of several arms
  std::string text = options.words;
  if (!RE2::PartialMatch(text, list)) RE2::GlobalReplace(&text, repository, " ");
  RE2::GlobalReplace(&text, no_arm, " ");  // "A-7B-FP8" has no option "--FP8"
  RE2::GlobalReplace(&text, path, " ");
  RE2::GlobalReplace(&text, without, "without");
  // The words in brackets at its end, or behind a plus, of a heading that says more.
  static const RE2 added(R"((?:#|\*\*).*[(+] ?([^()+]*)\)?\W*|.*[(+] ?([^()+]*)\)?[:*]+)");
  std::string addition, addition_of_line;
  if (!may_be_heading(caption, text.size()) && RE2::FullMatch(text, added, &addition, &addition_of_line)) {
    static const RE2 note(R"( *\([^()]*\)\W*$)");  // on the setup: "no speculation (engine, device)"
    std::string before(text);
    RE2::Replace(&before, note, "");
    static const RE2 both(R"((?i)\b(?:with(?:out)?|off|on) ?(?:and|or|vs\.?|[/,]) ?(?:with(?:out)?|off|on)\b)");
    if (RE2::PartialMatch(before, both)) return std::nullopt;  // the words in brackets are of one of them
    const auto arm = arm_in_text(before);  // a title that names a drafter may be that of a text about it
    text = arm && arm->plain ? before : addition + addition_of_line;
  }
  static const RE2 goes_on(R"((?i)^\W*(?:(?:and|but|then|now)\b|(?:before|after),))");  // "And with MTP:"
  RE2::Replace(&text, goes_on, "");
  text = last_clause(text);
  static const RE2 word(R"((?i)\W*(?:off|none|plain|disabled)\W*)");  // "=== off ==="
  if (RE2::FullMatch(text, word)) return Arm{.plain = true};
  if (RE2::FullMatch(text, several)) return std::nullopt;
  auto arm = may_be_heading(caption, text.size()) ? arm_in_text(text) : arm_that_opens(text);
  if (!arm || arm->plain || options.mentions == 0) return arm;
  if (options.arm.drafter) arm->drafter = options.arm.drafter;
  arm->tree = options.arm.tree;
  if (options.arm.gamma) arm->gamma = options.arm.gamma;
  arm->adaptive = arm->adaptive || options.arm.adaptive;
  return arm;
}

bool names_arm_above(std::string_view caption, std::string_view lead) {
  return !lead.empty() && lead != caption && arm_in_caption(lead) && !arm_in_caption(caption);
}

void RunCaptions::note(std::string_view caption, std::int64_t number, bool of_read) {
  if (caption.empty() || captions_.size() == max_captions) return;
  static const RE2 change(R"((?i)\W*(?:(before)|after)\W*)");
  auto arm = arm_in_caption(caption);
  auto requests = load_in_caption(caption);
  std::string before;
  const bool of_change = !arm && RE2::FullMatch(piece(caption), change, &before);
  if (of_change) arm = Arm{.plain = !before.empty()};
  std::size_t level = 0;
  static const RE2 same_load(R"((?i).*\bsame (?:\d+ )?(?:requests|prompts|load|traffic|concurrency|settings)\b.*)");
  if (arm && !requests && RE2::FullMatch(piece(caption), same_load)) {
    const auto last = std::ranges::find_if(captions_.rbegin(), captions_.rend(),
                                           [](const Caption& one) { return one.requests.has_value(); });
    if (last != captions_.rend()) requests = last->requests;
  }
  if (!arm && requests && !captions_.empty()) {  // another load of it
    arm = captions_.back().arm;
    level = captions_.back().level;
  }
  static const RE2 options(R"(--\w|\w\()");
  static const RE2 label(R"([^:=]{1,40}[:*\s]*)");  // no line with a value
  if (!arm && !requests && (unnamed_.size() == max_captions || !RE2::FullMatch(piece(caption), label))) return;
  Caption noted{.line = number,
                .arm = std::move(arm),
                .requests = std::move(requests),
                .of_options = RE2::PartialMatch(piece(caption), options),
                .of_change = of_change,
                .of_read = of_read,
                .level = level,
                .words = without_arm(caption)};
  (noted.arm || noted.requests ? captions_ : unnamed_).push_back(std::move(noted));
}

namespace {

/// What captions name.
struct CaptionedArms {
  bool plain = false, drafting = false;
  std::set<double> lengths = {};  ///< of drafts

  void add(const Arm& arm) {
    (arm.plain ? plain : drafting) = true;
    if (arm.gamma) lengths.insert(*arm.gamma);
  }
  /// Whether these are a run without speculation and one with it, or several draft lengths.
  [[nodiscard]] bool differ() const { return (plain && drafting) || lengths.size() > 1; }
};

}  // namespace

/// Forgets the arms of headings of levels that do not have several above runs: such a heading may be of more than
/// these.
void RunCaptions::drop_lone_headings(std::span<const Observation> runs, std::vector<Caption>& captions) {
  std::array<CaptionedArms, max_level + 1> arms;  // of headings with runs below
  for (auto heading = captions.begin(); heading != captions.end(); ++heading) {
    if (heading->level == 0 || !heading->arm) continue;
    const auto next = std::find_if(heading, captions.end(), [&](const Caption& other) {
      return other.line > heading->line && (other.level > 0 || !(other.arm || other.requests));
    });
    const auto is_below = [&](const Observation& run) {
      return run.line > heading->line && (next == captions.end() || run.line < next->line);
    };
    if (std::ranges::any_of(runs, is_below)) arms.at(heading->level).add(*heading->arm);
  }
  const auto is_alone = [&](const Caption& one) { return one.level > 0 && !arms.at(one.level).differ(); };
  std::erase_if(captions, [&](const Caption& one) { return is_alone(one) && !one.requests; });
  for (Caption& one : captions)
    if (is_alone(one)) one.arm.reset();
}

/// The captions that name arms, and those with the words of one that drafts but not those of its arm, "7b:" beside
/// "spec 7b:", which are of the run without speculation.
std::vector<RunCaptions::Caption> RunCaptions::with_plain(std::span<const Observation> runs) const {
  std::vector<Caption> captions = captions_;
  drop_lone_headings(runs, captions);
  for (Caption one : unnamed_) {
    const auto drafts = [&](const Caption& other) {
      return other.arm && !other.arm->plain && !other.of_change && other.words == one.words;
    };
    if (one.words.empty() || std::ranges::none_of(captions_, drafts)) continue;
    one.arm = Arm{.plain = true};
    one.is_beside = true;
    captions.push_back(std::move(one));
  }
  std::ranges::stable_sort(captions, {}, &Caption::line);
  return captions;
}

void RunCaptions::note_change(std::string_view text) {
  static const RE2 changed(
      R"re((?im)^[ \t]*([+-])[^\n]*["' -](?:draft[_-]model|model-draft|speculative[_-]\w+|spec-\w[\w-]*|num[_-]spec\w+)\b)re");
  if (bytes_ > first_bytes) return;
  bytes_ += text.size();
  re2::StringPiece rest = piece(text);
  for (std::string sign; RE2::FindAndConsume(&rest, changed, &sign);)
    (sign == "+" ? adds_drafter_ : removes_drafter_) = true;
}

void RunCaptions::note_heading(std::string_view heading, std::int64_t number) {
  const std::size_t level = heading.find_first_not_of('#');
  if (level > max_level || captions_.size() == max_captions) return;  // "#######" are those of other captions
  auto arm = arm_in_caption(heading);
  if (!arm && level > level_) return;
  const bool names = arm.has_value();
  captions_.push_back({.line = number, .arm = std::move(arm), .level = names ? level : level_});
  level_ = names ? level : 0;
  is_read_ = false;
}

void RunCaptions::end(std::int64_t number, bool goes_on) {
  if (captions_.empty() || (!captions_.back().arm && captions_.back().level == 0)) return;
  Caption last = captions_.back();
  captions_.push_back({.line = number});
  if (!goes_on || is_read_ || last.level == 0 || !last.arm) return;
  last.line = number;
  captions_.push_back(std::move(last));
}

void RunCaptions::name_runs(LogContents& contents, bool all) const {
  std::vector<Observation>& runs = contents.observations;
  std::vector<Caption> captions = with_plain(runs);
  std::set<std::string> said;
  std::erase_if(captions, [&](const Caption& one) { return !all && !one.of_read; });
  if (!contents.scrapes.empty() && runs.size() == 1) {  // of two scrapes: between them stand "after" and what loaded it
    std::erase_if(captions, [](const Caption& one) { return one.of_change || !(one.arm || one.requests); });
    for (std::size_t i = 1; i < captions.size(); ++i) {
      if (!captions[i].arm) captions[i].arm = captions[i - 1].arm;
    }
  }
  const bool other_spans = std::ranges::any_of(runs, [](const Observation& one) { return one.span != Span::run; });
  const auto is_known = [&](const Caption& one) {
    return one.arm && (!one.of_change || (adds_drafter_ && !removes_drafter_));
  };
  CaptionedArms arms;
  for (const Caption& one : captions)
    if (is_known(one)) arms.add(*one.arm);
  const bool of_text = contents.format == "prose";  // its speeds say themselves whether they are with speculation
  // Runs of several formats may be of one console; windows beside them are of a server.
  const bool tell_apart = arms.plain || arms.lengths.size() > 1;
  if (other_spans && (!tell_apart || contents.format.find(' ') != std::string::npos)) return;
  for (Observation& run : runs) {
    const auto later = std::ranges::upper_bound(captions, run.line, {}, &Caption::line);
    if (later == captions.begin()) continue;
    const Caption& above = *std::prev(later);
    if (above.requests && run.span == Span::run && !(above.of_options && run.offered_requests))
      set_limit(parse_real(*above.requests), run);
    if (!is_known(*std::prev(later))) continue;
    const Arm& arm = *std::prev(later)->arm;
    // Several tokens a chunk do not say that a run speculates.
    const bool counted = run.acceptance || (run.acceptance_length && run.decoding != Decoding::unknown);
    if ((!of_text || run.decoding == Decoding::unknown) && !counted &&
        (arm.plain || run.decoding != Decoding::speculative)) {
      if (arm.plain) {
        run.decoding = Decoding::plain;
      } else {
        draft_uncounted(run);
      }
      if (const Caption& caption = *std::prev(later); caption.is_beside && said.insert(caption.words).second)
        contents.warnings.push_back(
            {.code = "W22",
             .line = run.line,
             .message = fmt::format("\"{}\" = without speculation, beside the same with it", caption.words)});
    }
    const bool other = run.drafter && arm.drafter && run.drafter != arm.drafter;
    if (run.decoding != Decoding::speculative || arm.plain || other) continue;
    note_arm(run, arm);
  }
}

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
  const bool of_arms = sections && (parts || std::ranges::any_of(contents.observations, is_plain)) &&
                       std::ranges::none_of(setups, [](const Setup& one) { return are_both_arms(one.runs); });
  for (std::size_t i = 0; apart && i < of_table.size(); ++i) {
    for (Observation& run : contents.observations) {
      if (run.line < tables[i].first_line || run.line > tables[i].last_line || (of_arms && is_plain(run))) continue;
      auto& kind = of_arms ? run.drafter : run.stratum.category;
      kind = setups[of_table[i]].name + (kind && !of_arms ? " / " + *kind : "");
      if (parts && !of_arms) run.span = Span::run;  // whose kinds are kept apart
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
      part.caption += part.caption.empty() ? std::string(one) : (level(one) > max_level ? ": " : "\n") + name_in(one);
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
