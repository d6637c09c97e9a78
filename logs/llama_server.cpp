// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/arms.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/llama_options.hpp"
#include "logs/llama_requests.hpp"
#include "logs/patterns.hpp"

/// llama-server: the times of each request, its drafts, and totals since the start.
namespace foredraft::logs {
namespace {

/// Maximum error of a rate by position, which has three decimals.
constexpr double total_rounding = 0.0005;

struct Timing {
  double ms, tokens;
};

/// `eval time = 2567.65 ms / 200 tokens`, of ik_llama.cpp `generation eval time =   2567.65 ms /   200 runs`
std::optional<Timing> read_timing(std::string_view text) {
  static const RE2 timing(R"(eval time *= *(\d[\d.]*) ms */ *(\d+) (?:tokens|runs))", RE2::Latin1);
  Timing found{};
  if (!RE2::PartialMatch(piece(text), timing, &found.ms, &found.tokens) || found.tokens <= 0.0) return std::nullopt;
  return found;
}

/// Totals of one drafting method since the start of the server, or of one request.
struct Totals {
  std::int64_t calls = 0, drafts = 0, drafted = 0, accepted = 0;
  double draft_ms = 0.0;
  std::vector<std::int64_t> accepted_at = {};
  double rounding = 0.0;  ///< of accepted_at
};

/// The totals of one drafting method so far, and the sum of `accepted_at` of its requests. The printed rates of all
/// steps are rounded: differences of two totals get less accurate the longer a server runs, but this sum does not.
struct Progress {
  Totals totals = {};
  std::vector<std::int64_t> assigned = {};
};

std::optional<Totals> read_totals(std::string_view text, std::int64_t line) {
  const auto drafts = count_after(text, "#gen drafts =");
  const auto drafted = count_after(text, "#gen tokens =");
  const auto accepted = count_after(text, "#acc tokens =");
  if (!drafts || !drafted || !accepted) return std::nullopt;
  Totals totals{.drafts = *drafts, .drafted = *drafted, .accepted = *accepted};
  if (const auto rates = text_after(text, "#acc rate/pos = (", ")")) {
    AcceptanceCounts counts{.steps = *drafts};
    set_positions(counts, take_numbers(*rates), std::nullopt, total_rounding, line);
    totals.accepted_at = std::move(counts.accepted_at);
    totals.rounding = counts.accepted_at_rounding;
  }
  if (const auto calls = text_after(text, "#calls(b,g,a) =", ",")) {
    std::string_view rest = *calls;
    const bool has_first = take_number(rest).has_value();
    if (has_first) totals.calls = whole(take_number(rest)).value_or(0);
  } else {
    totals.calls = count_after(text, "#calls =").value_or(0);
  }
  if (const auto durations = text_after(text, "dur(b,g,a) = ", " ms")) {
    const std::vector<double> each = take_numbers(*durations);
    if (each.size() == 3) totals.draft_ms = each[1];
  }
  return totals;
}

/// `accepted_at` of a request: the rates of the totals, corrected where the sum of all requests (`assigned` and this
/// one) would leave the range of the totals. Never rises, and adds up to the accepted tokens if possible.
std::vector<std::int64_t> positions_of_request(const Totals& now, const Totals& request,
                                               const std::vector<std::int64_t>& assigned) {
  AcceptanceCounts counts{.steps = request.drafts, .accepted_tokens = request.accepted};
  counts.accepted_at_rounding = static_cast<double>(request.drafts);  // only their sum is known
  std::int64_t before = request.drafts;
  const auto allowed = static_cast<std::int64_t>(now.rounding);
  for (std::size_t i = 0; i < now.accepted_at.size(); ++i) {
    const std::int64_t missing = now.accepted_at[i] - (i < assigned.size() ? assigned[i] : 0);
    const double share = static_cast<double>(now.accepted_at[i]) / static_cast<double>(now.drafts);
    const std::int64_t expected = std::llround(share * static_cast<double>(request.drafts));
    const std::int64_t taken = std::clamp(expected, missing - allowed, missing + allowed);
    before = std::clamp<std::int64_t>(taken, 0, before);
    counts.accepted_at.push_back(before);
  }
  fit_to_total(counts);
  return counts.accepted_at;
}

/// What a request added to the totals; all of `now` if the server was restarted. `rates`: its own, if printed.
Totals since(Progress& progress, const Totals& now, std::span<const double> rates, std::int64_t line) {
  const Totals& before = progress.totals;
  if (now.drafts < before.drafts || now.drafted < before.drafted || now.accepted < before.accepted) progress = {};
  Totals request{.calls = std::max<std::int64_t>(0, now.calls - before.calls),
                 .drafts = now.drafts - before.drafts,
                 .drafted = now.drafted - before.drafted,
                 .accepted = now.accepted - before.accepted,
                 .draft_ms = now.draft_ms - before.draft_ms};
  if (!rates.empty() && request.drafts > 0) {
    AcceptanceCounts counts{.steps = request.drafts, .accepted_tokens = request.accepted};
    set_positions(counts, rates, std::nullopt, total_rounding, line);
    request.accepted_at = std::move(counts.accepted_at);
    request.rounding = counts.accepted_at_rounding;
  } else if (request.drafts > 0) {
    request.accepted_at = positions_of_request(now, request, progress.assigned);
    request.rounding = now.rounding > 0.0 ? total_rounding * static_cast<double>(request.drafts) : 0.0;
  }
  progress.assigned.resize(std::max(progress.assigned.size(), request.accepted_at.size()), 0);
  for (std::size_t i = 0; i < request.accepted_at.size(); ++i) progress.assigned[i] += request.accepted_at[i];
  progress.totals = now;
  return request;
}

struct Request {
  std::int64_t line = 0;
  std::optional<std::string> task = {};
  std::optional<Timing> prompt = {}, output = {};
  std::optional<std::int64_t> accepted = {}, drafted = {};
  bool drafts = false;                 ///< its acceptance rate is logged, without counts
  std::optional<bool> undrafted = {};  ///< whether all drafters were called for it, and found nothing
  std::optional<double> length = {};
  std::vector<double> rates = {};          ///< of its positions
  std::string drafter = {};                ///< the methods that drafted for it
  std::optional<Totals> totals = {};       ///< of this request, if one method drafted all its tokens
  std::optional<Totals> since_start = {};  ///< first totals in the log, of the method that drafted most
};

/// Maximum number of tasks whose drafts are counted at once: memory does not grow with a log.
constexpr std::size_t max_open_tasks = 1024;
/// Maximum number of drafting methods with totals.
constexpr std::size_t max_methods = 64;
/// Maximum number of changes of a server's options that are kept.
constexpr std::size_t max_launches = 1024;

class LlamaServerReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;
  void finish(LogContents& contents) override;

 private:
  bool read_times(std::string_view text, LogContents& contents);
  bool read_drafts(std::string_view text, std::int64_t number, LogContents& contents);
  bool read_statistics(std::string_view text, std::int64_t number, LogContents& contents);
  bool read_round(std::string_view text, std::int64_t number);
  [[nodiscard]] std::optional<AcceptanceCounts> take_rounds(const std::string& task);
  void note_task(std::string_view text);
  void note_slot(std::string_view text);
  void close(LogContents& contents);
  void warn_of_rest(const Observation& request, LogContents& contents) const;
  [[nodiscard]] std::optional<AcceptanceCounts> counts(LogContents& contents) const;
  /// Whether several methods drafted for the request: a step drafts as one or the other does.
  [[nodiscard]] bool drafts_by_several() const { return request_.drafter.find('+') != std::string::npos; }

  /// Steps of a task, if each is logged.
  struct Rounds {
    std::int64_t line = 0;
    AcceptanceCounts counts = {};
  };

  Request request_ = {};
  std::map<std::string, Rounds> rounds_ = {};                 ///< by task
  std::map<std::string, Progress, std::less<>> before_ = {};  ///< by drafting method
  bool always_all_ = false;                                   ///< a build that counts only drafts accepted in full
  bool drafts_ = false;
  bool looks_up_ = false;  ///< a drafter that may find nothing: n-gram
  LlamaOptions options_ = {};
  std::map<std::int64_t, LlamaOptions> launched_ = {};  ///< options by the line that changed them
  std::optional<std::string> slot_ = {};
  bool several_slots_ = false;
  bool answered_ = false;  ///< a request was read since the server began
};

/// Whether a server that begins prints the line: one of its model or of its drafter.
bool begins_server_of_llama(std::string_view text) {
  return text.find(": loading model") != text.npos || text.find(": adding speculative impl") != text.npos;
}

bool LlamaServerReader::line(std::string_view text, std::int64_t number, LogContents& contents) {
  LlamaOptions options = options_;
  const bool begins = begins_server_of_llama(text);
  if (begins) close(contents);
  if (begins && answered_) options = {};  // another one
  const bool commanded = options.read(text);
  if (commanded) close(contents);
  if (begins || commanded) answered_ = false;
  if (options != options_ && launched_.size() < max_launches) launched_[number] = options;
  options_ = options;
  if (text.find("partial sequence removal") != std::string_view::npos) {
    always_all_ = true;
    return false;
  }
  if (text.find("slot print_timing: id") != std::string_view::npos && trimmed(text).ends_with('|')) {
    note_slot(text);  // of the times below
    return false;
  }
  if (read_round(text, number)) return true;
  bool taken = false;
  if (text.find("statistics ") != std::string_view::npos) {
    taken = read_statistics(text, number, contents);
  } else if (const auto at = text.find("draft acceptance"); at != std::string_view::npos) {
    taken = read_drafts(text.substr(at), number, contents);
  } else if (const auto rates = text_after(text, "acc per pos = (", ")"); rates && request_.drafted) {
    request_.rates = take_numbers(*rates);
    taken = true;
  } else if (text.find("_print") == std::string_view::npos) {
    taken = read_times(text, contents);
  }
  if (!taken) return false;
  note_task(text);
  request_.line = number;
  return true;
}

void LlamaServerReader::note_task(std::string_view text) {
  if (const auto task = text_after(text, "task ", " |")) request_.task = std::string(trimmed(*task));
  note_slot(text);
}

void LlamaServerReader::note_slot(std::string_view text) {
  auto slot = text_after(text, "id ", " |");
  if (!slot) slot = text_after(text, "id_slot=", " ");
  if (!slot) return;
  if (slot_ && *slot_ != trimmed(*slot)) several_slots_ = true;
  slot_ = std::string(trimmed(*slot));
}

bool LlamaServerReader::read_times(std::string_view text, LogContents& contents) {
  const std::optional<Timing> timing = read_timing(text);
  // Without a command line, lines of ik_llama.cpp may be those of a console.
  const bool of_ik = text.find("print_timings]") != text.npos || text.find("generation eval") != text.npos;
  if (!timing || (of_ik && !options_.is_server())) return false;
  const bool prompt = text.find("prompt eval time") != std::string_view::npos;
  if (prompt || request_.output || request_.drafted) close(contents);
  (prompt ? request_.prompt : request_.output) = timing;
  return true;
}

bool LlamaServerReader::read_drafts(std::string_view text, std::int64_t number, LogContents& contents) {
  const auto accepted = count_after(text, "(", " accepted");
  const auto drafted = count_after(text, "/", " generated");
  if (const auto rate = number_after(text, "draft acceptance ="); rate && !accepted && *rate <= 1.0) {
    drafts_ = request_.drafts = true;
    warn_once(contents, "W23", number,
              fmt::format("{:.3g} % accepted is no acceptance length without counts of drafts", 100.0 * *rate));
    return true;
  }
  if (!accepted || !drafted) return false;
  if (request_.drafted) close(contents);
  check_counts({.drafted_tokens = drafted, .accepted_tokens = accepted}, std::nullopt, number, contents);
  drafts_ = true;
  request_.accepted = accepted;
  request_.drafted = drafted;
  request_.length = number_after(text, "mean len =");
  if (!request_.length) request_.length = number_after(text, "mean acceptance length =");
  if (const auto rates = text_after(text, "acceptance rate per position = (", ")"))
    request_.rates = take_numbers(*rates);
  return true;
}

/// "task 7 | accepted  2/ 3 draft tokens"
bool LlamaServerReader::read_round(std::string_view text, std::int64_t number) {
  const auto task = text_after(text, "task ", " |");
  const auto counts = numbers_in(text, "accepted #/ # draft tokens");
  if (!task || counts.size() != 2) return false;
  const auto accepted = whole(counts[0]), drafted = whole(counts[1]);
  if (!accepted || !drafted || *accepted > *drafted || *drafted == 0) return false;
  const std::string name(trimmed(*task));
  if (rounds_.size() == max_open_tasks && !rounds_.contains(name))  // tasks that never ended
    rounds_.erase(std::ranges::min_element(rounds_, {}, [](const auto& one) { return one.second.line; }));
  Rounds& rounds = rounds_[name];
  rounds.line = number;
  rounds.counts.steps += 1;
  rounds.counts.drafted_tokens = rounds.counts.drafted_tokens.value_or(0) + *drafted;
  rounds.counts.accepted_tokens = rounds.counts.accepted_tokens.value_or(0) + *accepted;
  drafts_ = true;
  return true;
}

std::optional<AcceptanceCounts> LlamaServerReader::take_rounds(const std::string& task) {
  const auto rounds = rounds_.extract(task);
  return rounds.empty() ? std::nullopt : std::optional(rounds.mapped().counts);
}

bool LlamaServerReader::read_statistics(std::string_view text, std::int64_t number, LogContents& contents) {
  const auto type = text_after(text, "statistics ", ":");
  const std::optional<Totals> now = read_totals(text, number);
  if (!type || !now) return false;
  check_counts({.drafted_tokens = now->drafted, .accepted_tokens = now->accepted}, std::nullopt, number, contents);
  const std::string name(trimmed(*type));
  if (before_.size() == max_methods && !before_.contains(name)) return false;
  contents.settings.method = name;
  looks_up_ = looks_up_ || looks_tokens_up(name);
  const bool first = before_.find(name) == before_.end();
  Totals of_request = since(before_[name], *now, request_.rates, number);
  if (first && (!request_.since_start || request_.since_start->drafted < now->drafted)) request_.since_start = now;
  if (of_request.drafted > 0 && request_.drafted) {
    request_.drafter += request_.drafter.empty() ? name : "+" + name;
  }
  request_.undrafted = request_.undrafted.value_or(true) && of_request.calls > 0 && of_request.drafted == 0;
  // Builds that print no drafts of a request: its tokens are those of its calls and the accepted ones.
  const double tokens = request_.output ? request_.output->tokens - 1.0 : 0.0;
  if (!request_.drafted && of_request.calls > 0 &&
      std::abs(static_cast<double>(of_request.calls + of_request.accepted) - tokens) <= 1.0) {
    request_.drafted = of_request.drafted;
    request_.accepted = of_request.accepted;
    request_.drafter = name;
    drafts_ = true;
  }
  if (request_.drafted && of_request.drafted >= *request_.drafted) request_.totals = std::move(of_request);
  return true;
}

/// The length of every draft of the totals; nullopt if it varied, or for fewer than 100 drafts.
std::optional<std::int64_t> drafts_of_each(const std::optional<Totals>& totals) {
  constexpr std::int64_t enough = 100;  // with so many, a whole number is no coincidence
  if (!totals || totals->drafts < enough || totals->drafted < totals->drafts) return std::nullopt;
  return totals->drafted % totals->drafts == 0 ? std::optional(totals->drafted / totals->drafts) : std::nullopt;
}

/// Counts of the request; nullopt if the log does not determine the number of steps.
std::optional<AcceptanceCounts> LlamaServerReader::counts(LogContents& contents) const {
  const std::int64_t accepted = request_.accepted.value_or(0);
  const bool all = accepted == request_.drafted && accepted > 0;
  const bool fits =
      request_.totals && request_.totals->drafted == request_.drafted && request_.totals->accepted == accepted;
  if (all && !fits && (always_all_ || request_.totals)) {
    warn_once(contents, "W13", request_.line,
              "acceptance is always 100 %: this build counts only drafts that were accepted in full");
    if (!request_.totals) return std::nullopt;
  }
  if (request_.totals && (fits || all) && request_.totals->drafts > 0) {
    const Totals& totals = *request_.totals;
    return AcceptanceCounts{.steps = totals.drafts,
                            .drafted_tokens = totals.drafted,
                            .accepted_tokens = totals.accepted,
                            .accepted_at = totals.accepted_at,
                            .accepted_at_rounding = totals.rounding};
  }
  double steps = 0.0;
  const double accepted_each = std::accumulate(request_.rates.begin(), request_.rates.end(), 0.0);
  if (accepted_each > 0.0) {
    steps = std::round(static_cast<double>(accepted) / accepted_each);
  } else if (request_.length && *request_.length > 1.0) {
    steps = std::round(static_cast<double>(accepted) / (*request_.length - 1.0));
  }
  if (request_.output) {
    // Each step emits one token that was not drafted; the first token comes with the prompt.
    const double of_tokens = std::max(0.0, request_.output->tokens - 1.0 - static_cast<double>(accepted));
    const double rounding = two_digits * steps * steps / std::max(1.0, static_cast<double>(accepted));  // of the length
    if (steps == 0.0 || std::abs(of_tokens - steps) <= rounding) steps = of_tokens;
  }
  if (const auto each = drafts_of_each(request_.since_start);
      each && !drafts_by_several() && request_.drafted.value_or(0) % *each == 0) {
    const std::int64_t whole_steps = request_.drafted.value_or(0) / *each;
    steps = static_cast<double>(whole_steps);
  }
  const auto maximum = static_cast<double>(request_.drafted.value_or(0));
  if (!(steps >= 1.0) || maximum < 1.0) return std::nullopt;
  AcceptanceCounts counts{.steps = static_cast<std::int64_t>(std::min(steps, maximum)),
                          .drafted_tokens = request_.drafted,
                          .accepted_tokens = accepted,
                          .steps_estimated = true};
  set_positions(counts, request_.rates, std::nullopt, total_rounding, request_.line);
  return counts;
}

/// Warns (W02) if the first totals of a method also count requests before those that the log shows.
void LlamaServerReader::warn_of_rest(const Observation& request, LogContents& contents) const {
  if (!request_.since_start || !request.acceptance || !request_.drafted) return;
  const std::int64_t steps = request_.since_start->drafts - request.acceptance->steps;
  const std::int64_t accepted = request_.since_start->accepted - request_.accepted.value_or(0);
  constexpr std::int64_t worth_naming = 100;
  if (steps < worth_naming || accepted < 0) return;
  warn_once(contents, "W02", request.line,
            fmt::format("the statistics count {} steps of requests that the log does not show ({:.2f} tokens each), "
                        "which are not used: give the log from the start of the server",
                        steps, 1.0 + static_cast<double>(accepted) / static_cast<double>(steps)));
}

void LlamaServerReader::close(LogContents& contents) {
  if (request_.output || request_.drafted) {
    Observation done{.line = request_.line, .span = Span::request};
    if (request_.drafts) done.decoding = Decoding::speculative;
    if (request_.drafted) {
      done.decoding = Decoding::speculative;
      done.acceptance = counts(contents);
      if (!done.acceptance && !always_all_) done.acceptance_length = request_.length;
    }
    if (request_.undrafted == true && request_.drafted.value_or(0) == 0 && request_.output &&
        request_.output->tokens > 1.0) {
      done.decoding = Decoding::speculative;
      done.acceptance = AcceptanceCounts{.drafted_tokens = 0, .accepted_tokens = 0};
    }
    if (const auto rounds = take_rounds(request_.task.value_or(""));
        rounds && request_.accepted.value_or(*rounds->accepted_tokens) == rounds->accepted_tokens) {
      done.decoding = Decoding::speculative;
      done.acceptance = rounds;
      done.acceptance_length = std::nullopt;
    }
    if (!request_.drafter.empty()) done.drafter = request_.drafter;
    if (drafts_by_several()) done.adaptive = true;
    if (done.acceptance) {
      // The first token comes with the prompt.
      if (request_.output && !done.acceptance->steps_estimated) {
        set_generated_tokens(*done.acceptance, request_.output->tokens - 1.0);
      }
      check_counts(*done.acceptance, done.gamma, done.line, contents);
      if (!done.acceptance->accepted_at.empty()) {
        done.gamma = static_cast<std::int64_t>(done.acceptance->accepted_at.size());
      }
      if (request_.totals && request_.totals->calls > 0 && request_.totals->draft_ms > 0.0) {
        done.times.draft_ms = request_.totals->draft_ms / static_cast<double>(request_.totals->calls);
      }
    }
    if (request_.output && request_.output->ms > 0.0) {
      done.times.duration_s = request_.output->ms / 1000.0;
      done.times.output_tokens_per_s = 1000.0 * request_.output->tokens / request_.output->ms;
      // The clock starts at the first token.
      if (request_.output->tokens > 1.0) done.times.tpot_ms = request_.output->ms / (request_.output->tokens - 1.0);
      if (done.acceptance) {
        done.times.iteration_ms = request_.output->ms / all_steps(*done.acceptance);
      } else if (!request_.drafted && !request_.drafts) {
        done.times.iteration_ms = done.times.tpot_ms;
      }
    }
    if (done.times.draft_ms && done.times.iteration_ms && *done.times.draft_ms > *done.times.iteration_ms) {
      done.times.draft_ms = std::nullopt;
      warn_once(contents, "W18", done.line, "drafting takes longer than the iterations that it is part of: left out");
    }
    if (request_.prompt) done.times.ttft_ms = request_.prompt->ms;
    done.stratum.request = request_.task;
    if (request_.output) {
      done.stratum.output_tokens = request_.output->tokens;
      if (request_.prompt) done.stratum.context_tokens = request_.prompt->tokens + request_.output->tokens / 2.0;
    }
    warn_of_rest(done, contents);
    contents.observations.push_back(std::move(done));
    answered_ = true;
  }
  request_ = {};
}

void LlamaServerReader::finish(LogContents& contents) {
  close(contents);
  for (const auto& [task, rounds] : rounds_) {  // of requests whose times are cut off
    contents.observations.push_back({.line = rounds.line,
                                     .span = Span::request,
                                     .decoding = Decoding::speculative,
                                     .acceptance = rounds.counts,
                                     .stratum = {.request = task}});
  }
  complete_draft_lengths(contents.observations);
  mark_varying(contents);
  for (Observation& request : contents.observations) {
    if (request.span != Span::request) continue;
    // Not all builds print the drafts of a request.
    const auto later = launched_.upper_bound(request.line);
    LlamaOptions launched = later == launched_.begin() ? LlamaOptions{} : std::prev(later)->second;
    if (!launched.is_server()) launched = {};
    if (!drafts_ && request.decoding == Decoding::unknown && launched.drafts()) {
      request.decoding = Decoding::speculative;
      request.gamma = launched.gamma();
      request.times.iteration_ms = std::nullopt;
    }
    note_most(launched.most(), request);
    // A request that drafted nothing is without speculation if the server never drafts. So is a long one if the drafter
    // always finds a draft: then the file has the logs of two servers, unless its command line drafts.
    constexpr double long_output = 32.0;
    const bool other_server = !looks_up_ && !(launched.is_commanded() && launched.drafts()) &&
                              request.stratum.output_tokens.value_or(0.0) >= long_output;
    if (request.decoding == Decoding::unknown && (!drafts_ || other_server)) request.decoding = Decoding::plain;
    if (slot_ && !several_slots_) request.requests = 1.0;
  }
  share_setting_with_undrafted(contents.observations);
}

}  // namespace

LineFormat llama_server_format() {
  static const std::string anchor =
      R"(draft acceptance(?: rate)? =|statistics[ \t]+\S+: #calls)"
      R"(|(?:main|load_model): loading model|acc per pos = \(|eval time *=[ \t]*[\d.]+ ms /|accepted +\d+/ *\d+ draft tokens|partial sequence removal|slot print_timing: id +\d+ \| task [^|\n]+\|\s*$|)" +
      std::string(llama_options_anchor);
  return lines_of<LlamaServerReader>(anchor);
}

}  // namespace foredraft::logs
