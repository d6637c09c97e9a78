// SPDX-License-Identifier: Apache-2.0
#include "logs/captions.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/numbers.hpp"
#include "logs/acceptance.hpp"
#include "logs/arm_order.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"
#include "logs/serving_runs.hpp"
#include "logs/spoken_options.hpp"
#include "logs/table_shapes.hpp"

namespace foredraft::logs {

namespace {

constexpr std::size_t max_captions = 1024;

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
      R"((?i).*(?:--\w|\bvs\b|versus|\band\b|\bor\b|compar|speed-?up|against|over|than|/).*|.*: *[\d.]+ ?s(?:ec(?:ond)?s?)?\W*)");
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
  static const RE2 added_arm("(?i).*,.*(?:with|base).*");  // not what leads to options: "restarted with `--spec...`"
  if (RE2::FullMatch(text, several) || (options.mentions == 0 && RE2::FullMatch(text, added_arm))) return std::nullopt;
  auto arm = may_be_heading(caption, text.size()) ? arm_in_text(text) : arm_that_opens(text);
  if (!arm || arm->plain || options.mentions == 0) return arm;
  if (options.arm.drafter) arm->drafter = options.arm.drafter;
  arm->tree = options.arm.tree;
  if (options.arm.gamma) arm->gamma = options.arm.gamma;
  arm->adaptive = arm->adaptive || options.arm.adaptive;
  return arm;
}

namespace {

/// Whether words say that something does not draft which might: "without MTP", "(no EAGLE)", but not "baseline".
bool denies_drafter(std::string_view text) {
  static const RE2 drafter("(?i)spec|draft|" + std::string(names_of_drafters));
  return std::ranges::any_of(arm_phrases(text), [&](const ArmPhrase& one) {
    return one.is_plain() && RE2::PartialMatch(piece(text.substr(one.begin, one.end - one.begin)), drafter);
  });
}

}  // namespace

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
                .denies = denies_drafter(caption),
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
  [[nodiscard]] bool are_several() const { return (plain && drafting) || lengths.size() > 1; }
};

}  // namespace

/// Forgets the arms of headings of levels that do not have several above runs: such a heading may be of more than
/// these.
void RunCaptions::drop_lone_headings(std::span<const Observation> runs, std::vector<Caption>& captions) {
  std::array<CaptionedArms, max_heading_level + 1> arms;  // of headings with runs below
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
  const auto is_alone = [&](const Caption& one) { return one.level > 0 && !arms.at(one.level).are_several(); };
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
  if (level > max_heading_level || captions_.size() == max_captions) return;  // "#######" are those of other captions
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

void RunCaptions::name_above(LogContents& contents) const {
  std::vector<Observation>& runs = contents.observations;
  const auto names_arm = [](const Caption& one) { return one.arm && one.of_read; };
  const auto denies = [&](const Caption& one) { return !names_arm(one) || one.denies; };
  const auto first = std::ranges::find_if(captions_, names_arm);
  if (first == captions_.end() || !std::ranges::all_of(captions_, denies) || contents.format == "prose") return;
  const auto is_above = [&](const Observation& run) { return run.line < first->line; };
  const auto fits = [&](const Observation& run) {
    return run.span != Span::window && run.decoding == (is_above(run) ? Decoding::unknown : Decoding::plain);
  };
  if (!std::ranges::any_of(runs, is_above) || !std::ranges::all_of(runs, fits)) return;
  for (Observation& run : runs)
    if (is_above(run)) draft_uncounted(run);
  contents.warnings.push_back({.code = "W22",
                               .line = runs.front().line,
                               .message = "with speculation: what stands above the line that names runs without it"});
}

}  // namespace foredraft::logs
