// SPDX-License-Identifier: Apache-2.0
#include "logs/stated_settings.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <optional>

#include "logs/acceptance.hpp"
#include "logs/arms.hpp"
#include "logs/captions.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/subjects.hpp"
#include "logs/table_shapes.hpp"

namespace foredraft::logs {

namespace {

/// The only drafter that the line of `text` around `at` names: "MTP used num_speculative_tokens=8"; empty: none or
/// several.
std::string drafter_of_line(std::string_view text, std::size_t at) {
  const std::size_t begin = text.substr(0, at).find_last_of('\n') + 1;
  const std::string_view line = text.substr(begin, text.find('\n', at) - begin);
  std::set<std::string> drafters;
  for (const ArmPhrase& one : arm_phrases(line)) {
    const auto arm = arm_in_text(line.substr(one.begin, one.end - one.begin));
    if (arm && arm->drafter) drafters.insert(*arm->drafter);
  }
  return drafters.size() == 1 ? *drafters.begin() : std::string();
}

}  // namespace

void StatedSettings::note(std::string_view text) {
  static const RE2 option(
      R"re((?i)((?:--(?:spec-)?draft(?:-n)?(?:-(?:max|tokens))?["', =]{1,4}|num[-_]spec(?:ulative)?[-_]tokens["'\\]*[ =:]{1,3})re"
      R"re(|\b(?:spec_)?n[-_]max ?[=:] ?|\b(?:draft_num_(?:predict|tokens)|draft_max)["'\\]*[ =:]{1,3}|\bnum_assistant_tokens["'\\]*[=:] ?)(\d{1,2})\b))re");
  static const RE2 words("(?i)(\\b(\\d{1,2}) spec(?:ulative)? tokens\\b)"), other("(?i)\\bk ?= ?(\\d{1,2})\\b");
  static const RE2 of_drafter("(?i)\\b((?:" + std::string(names_of_drafters) +
                              R"()(?:-?[123])?[ ,:(]{1,2}(?:with )?k ?= ?(\d{1,2})\b))");
  // LocalAI's settings of a model; elsewhere it may be a count.
  static const RE2 of_model("\\b(n_draft[\"'`]*[ \t]*: ?(\\d{1,2})\\b)"), model("\\bdraft_model[\"'`]*[ \t]*:");
  // Words of another run, and options that a comment leaves out.
  static const RE2 without(
      R"((?im)\b(?:base ?line|without|w/o|non?[- ]?(?:mtp|spec\w*|draft\w*)|vanilla|plain|disabled|off|before|vs)\b)"
      R"(|^[ \t]*(?:#|//).*(?:spec|draft))");
  // A line of a command or of its configuration, no sentence.
  static const RE2 command(
      R"re((?im)^[ \t"'>$]*(?:(?:- )?["']?--|["{]|num[-_]spec|(?:command|args|cmd|entrypoint)\b|\S*(?:vllm|llama-server|python|docker|podman|sglang)\S*[ \t]))re"
      R"re([^`\n]*(?:num[-_]spec|draft))re");
  static const RE2 load(
      R"re((?:(?:--(?:max[-_])?concurrency|--parallel|--max[-_](?:num[-_]seqs|running[-_]requests))[ =])(\d{1,5})\b([,; ]+\d)?)re");
  static const RE2 one(  // a clause of a line that is no row: "8 GB card, one request, temperature 0"
      R"((?i)^(?:[^|]*[,;:.(#])?\W{0,3}(?:(?:at|with|for|all|sent|run) )?(?:a )?(?:)" +
      std::string(words_of_one_request) +
      R"((?: at a time| at once| only| decod\w+)?|sequential(?:ly)?|one[- ]at[- ]a[- ]time) ?(?:[,;:.)]|\s*$))");
  static const RE2 in_turn(fmt::format(  // "20 prompts, one after the other": not of runs, nor of tokens
      R"((?i)^[^|]*\b(?:(?:prompts|requests|questions|queries|samples|problems)\b[^.;:|()]{{0,30}}?\b{0}\b|{0} (?:prompts|requests)\b))",
      ways_of_one_request));
  if (bytes_ > first_bytes) return;
  bytes_ += text.size();
  benchy_ = benchy_ || text.find("llama-benchy") != std::string_view::npos;
  command_ = command_ || RE2::PartialMatch(text, command);
  plain_ = plain_ || RE2::PartialMatch(text, without);
  names_model_ = names_model_ || RE2::PartialMatch(text, model);
  for (std::string_view lines = text; !lines.empty();) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1) + 1;
    SglangOptions server = servers_.empty() ? SglangOptions{} : servers_.back();
    const bool begins = server.read(lines.substr(0, end));
    if (begins) servers_.emplace_back();
    if (!servers_.empty()) servers_.back() = server;
    const std::string_view line = lines.substr(0, end);
    if (const auto block = block_size_in(line)) blocks_.insert(*block);
    if (RE2::PartialMatch(piece(line), one) || RE2::PartialMatch(piece(line), in_turn)) loads_.insert("1");
    if (const auto stated = load_in_caption(trimmed(line)); stated && !line.starts_with('|')) loads_.insert(*stated);
    for (const double requests : loads_in(line))
      if (requests != 1.0) loads_.insert(fmt::format("{}", requests));  // 1 may begin a list
    lines.remove_prefix(end);
  }
  int length = 0;
  std::string place;
  re2::StringPiece rest;
  for (const RE2* stated : {&option, &words, &of_drafter, &of_model}) {
    rest = piece(text);
    while (RE2::FindAndConsume(&rest, *stated, &place, &length)) {
      static const RE2 range("^ ?(?:-|\xE2\x80\x93|to|\\.\\.) ?\\d");
      static const RE2 hint(R"((?i)\b(?:try|consider|prefer|recommend\w*|suggest\w*)\b[^.;\n]*$)");
      const std::string_view before = text.substr(0, text.size() - rest.size() - place.size());
      const bool several = RE2::PartialMatch(rest, range);
      if ((several || stated == &of_drafter) && RE2::PartialMatch(piece(before), hint))
        continue;  // of no run: "try n_max = 2-3"
      if (several) length = 0;
      if (stated == &of_model) {
        of_model_.emplace_back(length, place);
        continue;
      }
      lengths_.emplace_back(length, place);
      of_drafters_[drafter_of_line(text, static_cast<std::size_t>(rest.data() - text.data()))].insert(length);
    }
  }
  rest = piece(text);
  while (RE2::FindAndConsume(&rest, other, &length)) others_.insert(length);
  rest = piece(text);
  for (std::string requests, more; RE2::FindAndConsume(&rest, load, &requests, &more);)
    loads_.insert(more.empty() ? requests : "several");
  static const RE2 threshold(R"re((?:--(?:spec-)?draft-p-min["', =]{1,4}|\bp[-_]min ?[=:] ?)(\d*\.?\d+))re");
  rest = piece(text);
  for (double least = 0.0; RE2::FindAndConsume(&rest, threshold, &least);)
    (least > 0.0 ? threshold_ : no_threshold_) = true;
}

void StatedSettings::tell_threshold(LogContents& contents) const {
  const auto is_adaptive = [](const Observation& run) { return run.adaptive.value_or(false); };
  if (!threshold_ || no_threshold_ || (contents.format != "table" && contents.format != "prose") ||
      std::ranges::any_of(contents.observations, is_adaptive))
    return;
  for (Observation& run : contents.observations) {
    if (run.acceptance_rate && run.gamma) run.adaptive = true;
  }
}

void StatedSettings::name_loads(LogContents& contents) const {
  const auto has_load = [](const Observation& run) {
    return run.requests || run.concurrency || run.offered_requests || run.times.request_rate_per_s;
  };
  // No log of a server, whose lines may each tell a part of its loads.
  const bool of_words = contents.format == "table" || contents.format == "prose" || contents.format == "prometheus";
  if (!of_words || loads_ != std::set<std::string>{"1"} || std::ranges::any_of(contents.observations, has_load)) return;
  for (Observation& run : contents.observations)  // a length alone may be of any load
    if (contents.format != "prose" || run.times.tpot_ms) run.requests = run.concurrency = 1.0;
}

/// Gives the lengths of several drafters, one each, to their runs. False if it gives none.
bool StatedSettings::name_drafters(LogContents& contents) const {
  const auto is_clear = [](const auto& one) { return !one.first.empty() && one.second.size() == 1; };
  if (of_drafters_.size() < 2 || !servers_.empty() || !std::ranges::all_of(of_drafters_, is_clear)) return false;
  std::string read_as;
  for (Observation& run : contents.observations) {
    const auto of = of_drafters_.find(run.drafter.value_or(""));
    if (run.decoding != Decoding::speculative || run.gamma || of == of_drafters_.end()) continue;
    const std::int64_t length = *of->second.begin();
    if (length < 1 || run.acceptance_length.value_or(1.0) > static_cast<double>(length) + 1.0) continue;
    run.gamma = length;
    const std::string one = fmt::format("{} at K = {}", of->first, length);
    if (read_as.find(one) == std::string::npos) read_as += (read_as.empty() ? "" : ", ") + one;
  }
  if (!read_as.empty())
    contents.warnings.push_back(
        {.code = "W22", .line = contents.observations.front().line, .message = "read as: " + read_as});
  return !read_as.empty();
}

void StatedSettings::name_trees(LogContents& contents) const {
  const auto tree = servers_.empty() ? std::nullopt : servers_.front().tree();
  const auto is_other = [&](const SglangOptions& one) { return one.tree() != tree; };
  std::vector<Observation*> drafting;
  for (Observation& run : contents.observations)
    if (run.decoding == Decoding::speculative) drafting.push_back(&run);
  const auto is_of_another = [&](const Observation* run) {
    return run->gamma || run->tree || run->drafter != drafting.front()->drafter;
  };
  if (!tree || drafting.empty() || !lengths_.empty() || std::ranges::any_of(servers_, is_other) ||
      std::ranges::any_of(drafting, is_of_another))
    return;
  contents.warnings.push_back({.code = "W22",
                               .line = drafting.front()->line,
                               .message = fmt::format("drafts are a tree, which has no K: {}", to_string(*tree))});
  for (Observation* run : drafting) run->tree = tree;
}

void StatedSettings::name_runs(LogContents& contents) const {
  constexpr std::array<std::string_view, 9> without_length{"mtp-bench",     "llamacpp-timings", "local-prompts",
                                                           "lmstudio-chat", "lmstudio",         "tabbyapi",
                                                           "exllama-jobs",  "llama-server",     "assisted-generation"};
  const bool counted = std::ranges::find(without_length, contents.format) != without_length.end();  // drafts, but not K
  const bool of_words = fmt::format(" {} ", contents.format).find(" prose ") != std::string::npos;
  if (contents.format != "table" && !of_words && !counted) return;
  if (!counted && name_drafters(contents)) return;
  std::vector<std::pair<std::int64_t, std::string>> lengths = lengths_;
  if (names_model_) lengths.insert(lengths.end(), of_model_.begin(), of_model_.end());
  for (const SglangOptions& server : servers_)
    lengths.emplace_back(server.gamma().value_or(0), "--speculative-num-steps");
  name_trees(contents);
  const auto drafts_no_block = [](const Observation& run) {
    return run.decoding == Decoding::speculative && !fills_blocks(run.drafter.value_or(""));
  };
  if (lengths.empty() && blocks_.size() == 1 && std::ranges::none_of(contents.observations, drafts_no_block))
    lengths.emplace_back(std::max<std::int64_t>(*blocks_.begin() - 1, 0),
                         fmt::format("block size {}, with the known token", *blocks_.begin()));
  const auto is_other = [&](const auto& one) { return one.first != lengths.front().first; };
  if (lengths.empty() || lengths.front().first == 0 || std::ranges::any_of(lengths, is_other)) return;
  const auto length = lengths.front().first;
  if (others_.size() > others_.count(length)) return;  // "with k=3 it is slower": of which run?
  const auto is_unknown = [](const Observation& run) { return run.decoding == Decoding::unknown; };
  const bool of_server = benchy_ && command_ && !plain_ && bytes_ <= first_bytes && lengths.size() == 1 &&
                         std::ranges::all_of(contents.observations, is_unknown);
  std::vector<Observation*> drafting;
  for (Observation& run : contents.observations) {
    if (of_server) run.decoding = Decoding::speculative;
    if (run.decoding == Decoding::speculative) drafting.push_back(&run);
  }
  const bool of_server_log = contents.format == "llama-server";  // without counts its command line has said enough
  double drafted = 0.0, of_steps = 0.0, at_most = 0.0;
  for (const Observation* run : drafting) {
    if (!run->acceptance || !run->acceptance->drafted_tokens) continue;
    drafted += static_cast<double>(*run->acceptance->drafted_tokens);
    // The first token of an answer may be of a step, and drafts after its end may count as accepted.
    const std::int64_t more = run->acceptance->steps_estimated ? length : 0;
    of_steps += static_cast<double>(run->acceptance->steps * length);
    at_most += static_cast<double>((run->acceptance->steps + more) * length);
  }
  const auto named = std::ranges::find_if(drafting, [](const Observation* run) { return run->drafter.has_value(); });
  const auto fits = [&](const Observation* run) {
    const bool of_totals = run->acceptance && run->acceptance->steps_estimated && run->acceptance->drafted_tokens;
    return !run->gamma && (of_server_log ? of_totals : counted || !run->acceptance || of_totals) &&
           (!run->drafter || run->drafter == (*named)->drafter) &&
           run->acceptance_length.value_or(1.0) <= static_cast<double>(length) + 1.0;
  };
  if (drafting.empty() || drafted > at_most || !std::ranges::all_of(drafting, fits)) return;
  constexpr double whole = 0.95;  // drafts are cut short at the ends of texts
  for (Observation* run : drafting) {
    run->gamma = length;
    if (drafted < whole * of_steps) run->adaptive = true;
  }
  contents.warnings.push_back({.code = "W22",
                               .line = drafting.front()->line,
                               .message = fmt::format("{}K = {} is that of \"{}\"", of_server ? "all rows draft: " : "",
                                                      length, lengths.front().second)});
}

namespace {

/// The most that an engine drafts before it is unsure is that of all of its answers: few drafts of a short one, or
/// none, got so far.
void share_most(LogContents& contents) {
  std::optional<std::int64_t> most;
  for (const Observation& one : contents.observations)
    if (one.adaptive && one.gamma) most = std::max(most.value_or(0), *one.gamma);
  for (Observation& one : contents.observations)
    if (one.adaptive) one.gamma = most;
}

}  // namespace

void share_length(LogContents& contents) {
  if (contents.format == "omlx") share_most(contents);
  if (contents.format != "table") return;
  std::vector<const Observation*> accepting;
  std::vector<Observation*> timed;
  for (Observation& run : contents.observations) {
    if (run.decoding != Decoding::speculative) continue;
    const bool counts = run.acceptance || run.acceptance_length;
    const bool times = run.times.tpot_ms || run.times.output_tokens_per_s;
    if (counts == times || run.gamma.has_value() != counts || run.adaptive) return;
    if (counts) accepting.push_back(&run);
    if (times) timed.push_back(&run);
  }
  if (accepting.empty() || timed.empty()) return;
  const Observation& first = *accepting.front();
  const auto differs = [&](const Observation* run) {
    return run->gamma != first.gamma || run->drafter != first.drafter;
  };
  const auto is_alone = [&](const Observation* run) {
    return run->drafter != first.drafter || std::ranges::none_of(accepting, [&](const Observation* one) {
             return one->concurrency == run->concurrency && one->stratum.category == run->stratum.category;
           });
  };
  if (std::ranges::any_of(accepting, differs) || std::ranges::any_of(timed, is_alone)) return;
  for (Observation* run : timed) run->gamma = first.gamma;
  contents.warnings.push_back({.code = "W22",
                               .line = timed.front()->line,
                               .message = fmt::format("K = {} of the acceptance is that of the speeds", *first.gamma)});
}

}  // namespace foredraft::logs
