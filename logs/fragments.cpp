// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/llama_options.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"
#include "logs/stated_run.hpp"

/// Single lines and small tables that are posted without the log around them.
namespace foredraft::logs {
namespace {

// ---- llama-server's progress of a request (2026): its tokens so far and their mean speed. The last line of a request
// is read if the log has no other format, such as the times at the end of a request.

class LlamaProgressReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& /*contents*/) override {
    options_.read(text);
    auto tokens = number_after(text, "n_decoded = ");
    if (!tokens) tokens = number_after(text, "n_gen = ");
    const auto tokens_per_s = number_after(text, "tg = ", " t/s");
    if (!tokens || !tokens_per_s) return false;
    const std::string request(text_after(text, "id ", ", n_").value_or(text_after(text, "id ", "n_").value_or("")));
    constexpr std::size_t max_requests = 1024;  // a fragment has few
    if (requests_.size() == max_requests && !requests_.contains(request)) {
      if (left_out_ == 0) left_out_ = number;
      return true;
    }
    requests_[request] = {{.line = number, .request_tokens_per_s = tokens_per_s, .output_tokens = tokens}, options_};
    return true;
  }
  void finish(LogContents& contents) override {
    if (contents.format != "llama-progress") return;
    if (left_out_ > 0) warn_once(contents, "W18", left_out_, "requests from here on are not read: there are too many");
    for (const auto& [name, run] : requests_) {
      const Decoding decoding = run.options.drafts() ? Decoding::speculative : Decoding::unknown;
      Observation request = observation_of(run.stated, decoding, contents);
      request.gamma = run.options.gamma();
      request.span = Span::request;
      contents.observations.push_back(std::move(request));
    }
  }

 private:
  struct Request {
    StatedRun stated = {};
    LlamaOptions options = {};  ///< of the server, in the command line before it
  };
  std::map<std::string, Request> requests_ = {};  ///< by slot and task
  std::int64_t left_out_ = 0;                     ///< the first line of a request that is not read
  LlamaOptions options_ = {};
};

// ---- A line of a user's own benchmark: "generated=88 tok/s=14.8 rounds=34 acceptance_rate=0.529". Its mean of
// accepted tokens may or may not include the token that is not drafted; the tokens per round tell which.

struct LineKey {
  std::string_view key;
  std::optional<double> StatedRun::*field;
};

constexpr std::array<LineKey, 22> benchmark_words{{
    {"rounds", &StatedRun::steps},
    {"steps", &StatedRun::steps},
    {"iterations", &StatedRun::steps},
    {"verify_steps", &StatedRun::steps},
    {"generated", &StatedRun::output_tokens},
    {"output_tokens", &StatedRun::output_tokens},
    {"completion_tokens", &StatedRun::output_tokens},
    {"tokens", &StatedRun::output_tokens},
    {"tok/s", &StatedRun::request_tokens_per_s},
    {"tok_s", &StatedRun::request_tokens_per_s},
    {"tps", &StatedRun::request_tokens_per_s},
    {"tokens_per_s", &StatedRun::request_tokens_per_s},
    {"decode_tps", &StatedRun::request_tokens_per_s},
    {"drafted", &StatedRun::drafted},
    {"draft_tokens", &StatedRun::drafted},
    {"proposed", &StatedRun::drafted},
    {"accepted", &StatedRun::accepted},
    {"acceptance_rate", &StatedRun::rate},
    {"accept_rate", &StatedRun::rate},
    {"mean_accepted_len", &StatedRun::accepted_per_step},
    {"mean_accept_len", &StatedRun::accepted_per_step},
    {"prompt", &StatedRun::prompt_tokens},
}};

/// Sets the values of `key=value` words; the first one of a field is used.
void read_benchmark_words(std::string_view text, StatedRun& run) {
  std::size_t begin = 0;  // of the word before the equals sign
  for (std::size_t from = 0, at = text.find('='); at != text.npos; from = at + 1, at = text.find('=', from)) {
    const std::size_t blank = text.substr(from, at - from).find_last_of(" \t(`,;");
    if (blank != text.npos) begin = from + blank + 1;
    const std::string_view word = text.substr(begin, at - begin);
    const auto* const key = std::ranges::find(benchmark_words, word, &LineKey::key);
    std::string_view value = text.substr(at + 1);
    const auto number = take_number(value);
    if (key != benchmark_words.end() && number && *number >= 0.0 && !(run.*key->field)) run.*key->field = number;
  }
}

/// "68,159 accepted / 281,960 drafted / 40,280 steps": a number before or after each word, not both; else nothing.
StatedRun counts_in_words(std::string_view text) {
  constexpr std::array<std::optional<double> StatedRun::*, 3> fields{&StatedRun::accepted, &StatedRun::drafted,
                                                                     &StatedRun::steps};
  constexpr std::string_view words[]{"accepted", "(?:drafted|proposed)",
                                     "(?:verification |verify |decode )?(?:steps|rounds|iterations|cycles)"};
  const auto number_before = [](std::string_view word) {
    return RE2(fmt::format(R"((?i)(?:^|[^\d.,])(\d(?:[\d,]*\d)?)(?: draft)?(?: tokens?)? {}\b)", word));
  };
  const auto number_after = [](std::string_view word) {
    return RE2(fmt::format(R"((?i)\b{}(?: tokens?)?[:= ]+(\d(?:[\d,]*\d)?)(?:[^\d.,%]|[.,] |[.,]?$))", word));
  };
  static const RE2 before[]{number_before(words[0]), number_before(words[1]), number_before(words[2])};
  static const RE2 after[]{number_after(words[0]), number_after(words[1]), number_after(words[2])};
  const re2::StringPiece sentence = piece(text);
  StatedRun run;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::string number, other;
    const bool precedes = RE2::PartialMatch(sentence, before[i], &number);
    if (RE2::PartialMatch(sentence, after[i], precedes ? &other : &number) == precedes) return {};
    std::string_view rest = number;
    run.*fields[i] = take_number(rest);
  }
  return *run.accepted <= *run.drafted && *run.steps <= *run.drafted ? run : StatedRun{};
}

class KeyLineReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    static const RE2 verdicts(R"((?i)\b(\d{1,9}) accept(?:s|ed)?\b[ ,/|]+(?:and )?(\d{1,9}) reject(?:s|ed)?\b)");
    std::int64_t accepted = 0, rejected = 0;
    if (RE2::PartialMatch(piece(text), verdicts, &accepted, &rejected) && verdicts_.steps < max_logged_count / 2) {
      verdicts_.steps += accepted + rejected;
      verdicts_.accepted_tokens = verdicts_.accepted_tokens.value_or(0) + accepted;
      last_verdict_ = number;
      return true;
    }
    StatedRun run = counts_in_words(text);
    run.line = number;
    if (!run.steps) read_benchmark_words(text, run);
    const bool counted = run.drafted && run.accepted;
    if (!run.steps || !(*run.steps > 0.0) || !(run.output_tokens || counted) || (!run.rate && !run.accepted))
      return false;
    if (counted && !run.output_tokens) run.rate = std::nullopt;  // which the counts have
    if (!run.output_tokens) run.output_tokens = *run.steps + *run.accepted;
    constexpr double own_token = 0.5;
    const double emitted = *run.output_tokens / *run.steps;
    if (run.accepted_per_step && *run.accepted_per_step > emitted - own_token) *run.accepted_per_step -= 1.0;
    if (!run.accepted && *run.output_tokens >= *run.steps) run.accepted = *run.output_tokens - *run.steps;
    if (run.rate) run.gamma = gamma_of_rate(1.0 + run.accepted_per_step.value_or(emitted - 1.0), *run.rate);
    Observation request = observation_of(run, Decoding::speculative, contents);
    request.span = Span::request;
    for (const std::string_view option : {"--target ", "--model ", "target=", "model="}) {
      auto model = text_after(text, option, " ");
      if (!model || request.stratum.category) continue;
      request.stratum.category = model->substr(model->find_last_of('/') + 1);
      request.span = Span::run;  // categories of runs are kept apart, those of requests are not
    }
    contents.observations.push_back(std::move(request));
    return true;
  }
  /// Verdicts are the steps of runs that draft one token. Of several, a rejection may be one of a draft or of a step.
  void finish(LogContents& contents) override {
    const auto drafts = [](const Observation& one) { return one.decoding == Decoding::speculative; };
    const auto is_other = [&](const Observation& one) { return drafts(one) && (one.gamma != 1 || one.acceptance); };
    const bool read = verdicts_.steps > 0 && std::ranges::any_of(contents.observations, drafts) &&
                      std::ranges::none_of(contents.observations, is_other);
    if (verdicts_.steps > 0 && !read) {
      warn_once(contents, "W18", last_verdict_,
                "accepted and rejected drafts are not used: they are steps only where all runs draft one token");
    }
    if (!read) return;
    verdicts_.drafted_tokens = verdicts_.steps;
    contents.observations.push_back({.line = last_verdict_,
                                     .span = Span::run,
                                     .decoding = Decoding::speculative,
                                     .gamma = 1,
                                     .acceptance = verdicts_});
  }

 private:
  AcceptanceCounts verdicts_ = {};  ///< "97 accepted / 3 rejected", of all such lines
  std::int64_t last_verdict_ = 0;   ///< its line
};

// ---- ATOM's statistics of MTP: those since the start, else those of intervals.

class AtomReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    const auto counts = numbers_in(text, "Accepted/Total Draft tokens: #/#");
    if (counts.size() != 2) return false;
    StatedRun run{.line = number, .drafted = counts[1], .accepted = counts[0]};
    // Shares of steps by accepted drafts: {0: '27.30%', 1: '72.70%'}
    std::string_view rest = text_after(text, "distribution: {", "}").value_or("");
    for (std::size_t at = rest.find('\''); at != rest.npos; at = rest.find('\'')) {
      rest.remove_prefix(at + 1);
      const double share = take_number(rest).value_or(0.0) / 100.0;
      for (double& position : run.positions) position += share;
      run.positions.push_back(share);
      rest.remove_prefix(std::min(rest.find('\'') + 1, rest.size()));
    }
    if (run.positions.size() < 2) return false;
    run.positions.erase(run.positions.begin());  // any number, none too
    run.gamma = static_cast<double>(run.positions.size());
    if (run.positions.size() == 1) run.positions.clear();  // the counts have it without rounding
    Observation observation = observation_of(run, Decoding::speculative, contents);
    if (text.find("Stats Interval]") != std::string_view::npos) {
      observation.span = Span::window;
      intervals_.push_back(std::move(observation));
    } else {
      since_start_ = std::move(observation);
    }
    return true;
  }
  void finish(LogContents& contents) override {
    if (since_start_) intervals_ = {*std::move(since_start_)};
    std::ranges::move(intervals_, std::back_inserter(contents.observations));
  }

 private:
  std::vector<Observation> intervals_ = {};
  std::optional<Observation> since_start_ = {};
};

// ---- Tables (CSV) of ds4-bench, by context, and of scripts that collect sweeps of EvalScope, by concurrency.

constexpr std::array<LineKey, 7> benchmark_columns{{
    {"Conc.", &StatedRun::concurrency},
    {"Latency (tps/user)", &StatedRun::request_tokens_per_s},
    {"Decoded Tok/Iter", &StatedRun::length},
    {"ctx_tokens", &StatedRun::prompt_tokens},
    {"gen_tokens", &StatedRun::output_tokens},
    {"gen_tps", &StatedRun::request_tokens_per_s},
    {"emitted_per_cycle", &StatedRun::length},
}};

bool claims_bench_table(std::span<const std::string> columns) {
  return has_columns(columns, {"ctx_tokens", "gen_tps"}) || has_columns(columns, {"Conc.", "Latency (tps/user)"});
}

void read_bench_table(const CsvFields& row, LogContents& contents) {
  StatedRun run{.line = row.line()};
  for (const LineKey& key : benchmark_columns) {
    if (const auto value = row.has(std::string(key.key)) ? row.real(key.key) : std::nullopt) run.*key.field = value;
  }
  if (row.has("gen_tps")) run.concurrency = 1.0;
  if (run.length) run.length = std::max(1.0, *run.length);
  if (!run.request_tokens_per_s) return;
  Observation observation = observation_of(run, Decoding::unknown, contents);
  observation.stratum.category = row.text("config");
  contents.observations.push_back(std::move(observation));
}

}  // namespace

LineFormat llama_progress_format() {
  static const std::string anchor =
      R"(\bn_(?:decoded|gen) = +\d+, tg = +[\d.]+ t/s|)" + std::string(llama_options_anchor);
  return lines_of<LlamaProgressReader>(anchor);
}

LineFormat key_line_format() {
  return lines_of<KeyLineReader>(
      R"(\b(?:rounds|iterations|(?:verify_)?steps)=\d.*\baccept|\baccepted=\d.*\b(?:rounds|steps)=\d)"
      R"(|\b(?:[Dd]rafted|[Pp]roposed)\b.*\b(?:[Ss]teps|[Rr]ounds|[Ii]terations|[Cc]ycles)\b)"
      R"(|\b(?:steps|rounds|iterations|cycles)\b.*\b(?:drafted|proposed)\b|\d accept(?:s|ed)?\b[ ,/|]+(?:and )?\d+ reject)");
}

LineFormat atom_format() { return lines_of<AtomReader>(R"(\[MTP Stats)"); }

CsvFormat bench_table_format() { return {R"(gen_tps|Latency \(tps/user\))", claims_bench_table, read_bench_table}; }

}  // namespace foredraft::logs
