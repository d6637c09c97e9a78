// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "core/names.hpp"
#include "core/numbers.hpp"
#include "core/problems.hpp"
#include "logs/acceptance.hpp"
#include "logs/arms.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"
#include "logs/table_cells.hpp"

/// Users' own tables, records that scripts write, and lists of counters.
namespace foredraft::logs {

// ---- A user's own table: one row per observation, columns in any order, `gamma` or `decoding` among them, an empty
// cell for an unknown value. Columns are described in docs/logs.md.

namespace {

constexpr std::string_view position_prefix = "accepted_at_";

/// Its columns; also known are `accepted_at_2` and so on.
const std::vector<std::string>& own_columns() {
  static const std::vector<std::string> all = csv_cells(
      "decoding,gamma,steps,drafted,accepted,accepted_at_1,requests,waiting,iteration_ms,draft_ms,"
      "verification_ms,tpot_ms,ttft_ms,duration_s,output_tokens_per_s,request_rate_per_s,temperature,top_p,"
      "category,request,context_tokens,output_tokens,acceptance_length,drafter,adaptive,concurrency,"
      "offered_requests,completed_requests,failed_requests,served_requests_per_s,prompt_tokens_per_s");
  return all;
}

void check_own_columns(std::span<const std::string> columns) {
  std::vector<Problem> unknown;
  for (const std::string& column : columns) {
    const bool known = std::ranges::find(own_columns(), column) != own_columns().end();
    if (known || column.starts_with(position_prefix)) continue;
    const std::string_view near = nearest(column, own_columns());
    unknown.push_back({.key = column,
                       .text = "unknown column",
                       .suggestion = near.empty() ? "see \"A table of your own\" in docs/logs.md"
                                                  : fmt::format("did you mean {}?", near)});
  }
  if (!unknown.empty()) throw RejectedRecord(std::move(unknown));
}

/// Recognizes it by `gamma` with `steps` or a measured column, or by `decoding` with a measured column.
bool claims_own_csv(std::span<const std::string> columns) {
  constexpr std::array<std::string_view, 4> times{"iteration_ms", "tpot_ms", "output_tokens_per_s",
                                                  "acceptance_length"};
  const auto has = [&](std::string_view name) { return has_columns(columns, {name}); };
  const bool timed = std::any_of(times.begin(), times.end(), has);
  if (!(has("gamma") && (has("steps") || timed)) && !(has("decoding") && timed)) return false;
  check_own_columns(columns);
  return true;
}

Decoding decoding_of(const CsvFields& row) {
  const auto word = row.text("decoding");
  if (word == "plain") return Decoding::plain;
  if (word == "speculative") return Decoding::speculative;
  if (word) row.reject("decoding", *word, "must be plain or speculative");
  const auto gamma = row.count("gamma");
  if (!gamma && (row.count("drafted").value_or(0) > 0 || row.count("accepted").value_or(0) > 0 ||
                 row.real("acceptance_length").value_or(1.0) > 1.0))
    return Decoding::speculative;
  // A row of speeds without a draft length is one without speculation.
  const bool drafts = row.has("steps") || row.has("drafted") || row.has("accepted") || row.has("acceptance_length");
  if (!gamma) return drafts || !has_columns(row.columns(), {"gamma"}) ? Decoding::unknown : Decoding::plain;
  return *gamma == 0 ? Decoding::plain : Decoding::speculative;
}

std::vector<std::int64_t> positions_of_row(const CsvFields& row) {
  std::vector<std::int64_t> positions;
  for (std::size_t i = 1; i <= row.columns().size(); ++i) {
    const auto count = row.count(fmt::format("{}{}", position_prefix, i));
    if (!count) break;
    positions.push_back(*count);
  }
  return positions;
}

void read_own_acceptance(const CsvFields& row, Observation& observation, LogContents& contents) {
  auto steps = row.count("steps");
  const auto drafted = row.count("drafted");
  const bool estimated = !steps && drafted && observation.gamma.value_or(0) > 0;
  if (estimated) steps = *drafted / *observation.gamma;  // totals only
  if (!steps || (estimated && *steps == 0)) {
    observation.acceptance_length = row.real("acceptance_length");
    if (observation.acceptance_length && *observation.acceptance_length < 1.0) {
      row.reject("acceptance_length", *row.text("acceptance_length"), "must be at least 1");
    }
    return;
  }
  AcceptanceCounts counts{.steps = *steps,
                          .drafted_tokens = drafted,
                          .accepted_tokens = row.count("accepted"),
                          .accepted_at = positions_of_row(row),
                          .steps_estimated = estimated && *drafted % *observation.gamma != 0};
  if (!counts.accepted_tokens && !counts.accepted_at.empty()) {
    counts.accepted_tokens = sum_of_counts(counts.accepted_at, "accepted_at_1", row.line());
  }
  if (observation.gamma && static_cast<std::int64_t>(counts.accepted_at.size()) > *observation.gamma) {
    row.reject(fmt::format("{}{}", position_prefix, counts.accepted_at.size()), "beyond the draft length",
               fmt::format("gamma is {}", *observation.gamma));
  }
  check_counts(counts, observation.gamma, row.line(), contents);
  observation.acceptance = std::move(counts);
}

void read_own_row(const CsvFields& row, LogContents& contents) {
  Observation observation{.line = row.line(),
                          .span = row.has("request") ? Span::request : Span::run,
                          .decoding = decoding_of(row),
                          .drafter = row.text("drafter"),
                          .requests = row.real("requests"),
                          .waiting = row.real("waiting"),
                          .concurrency = row.real("concurrency"),
                          .offered_requests = row.real("offered_requests"),
                          .completed_requests = row.count("completed_requests"),
                          .failed_requests = row.count("failed_requests")};
  if (const auto adaptive = row.text("adaptive")) {
    if (*adaptive != "true" && *adaptive != "false") row.reject("adaptive", *adaptive, "must be true or false");
    observation.adaptive = *adaptive == "true";
  }
  // Columns have the names of fields.
  visit_fields(observation.times, [&](std::string_view name, std::optional<double>& time) { time = row.real(name); });
  visit_fields(observation.stratum, [&](std::string_view name, auto& field) {
    if constexpr (std::is_same_v<decltype(field), std::optional<double>&>) field = row.real(name);
  });
  observation.stratum.category = row.text("category");
  observation.stratum.request = row.text("request");
  if (observation.decoding == Decoding::speculative) {
    observation.gamma = row.count("gamma");
    read_own_acceptance(row, observation, contents);
  }
  contents.observations.push_back(std::move(observation));
}

// ---- Records of runs that scripts write: load and draft length, and the measurements beside them or in `measured`.
// Keys in docs/logs.md. A run whose acceptance is null is one without speculation, whatever draft length it states.

/// Maximum error of a rate printed with all digits.
constexpr double same_record_rate = 1e-6;
/// Maximum distance from an integer of accepted tokens computed from a mean printed with all digits.
constexpr double whole_tokens = 0.01;

/// Any two of its keys identify a record.
bool is_benchmark_record(const JsonValue& value) {
  if (!value.is_object()) return false;
  constexpr std::array<const char*, 5> keys{"num_speculative_tokens", "accepted_length_tau", "spec_num_drafts",
                                            "throughput_tok_s", "request_decode_tok_s_mean"};
  const JsonValue& measured = value.contains("measured") ? value.at("measured") : value;
  return std::ranges::count_if(keys, [&](const char* key) {
           return value.contains(key) || (measured.is_object() && measured.contains(key));
         }) >= 2;
}

/// A number, or the mean in an object of quantiles.
std::optional<double> number_or_mean(const JsonFields& measured, std::string_view key) {
  const JsonValue* found = measured.json().find(key);
  if (found == nullptr || !found->is_object()) return measured.real(key);
  return measured.required_object(key).real("mean");
}

void read_record_acceptance(const JsonFields& measured, Observation& observation, LogContents& contents) {
  const auto length = measured.real("accepted_length_tau");
  const auto gamma = static_cast<double>(observation.gamma.value_or(0));
  if (length && (!(*length >= 1.0) || (observation.gamma && *length > gamma + 1.0))) {
    measured.reject("accepted_length_tau", number_text(*length), "must lie between 1 and num_speculative_tokens + 1");
  }
  const auto steps = measured.count("spec_num_drafts");
  if (!length || !steps) {
    observation.acceptance_length = length;
    return;
  }
  AcceptanceCounts counts{.steps = *steps};
  const double accepted = (*length - 1.0) * static_cast<double>(counts.steps);
  if (!(accepted <= static_cast<double>(max_logged_count))) {
    measured.reject("accepted_length_tau", number_text(*length), "must be at most 2^53 accepted tokens in total");
  }
  counts.accepted_tokens = std::llround(accepted);
  counts.steps_estimated = std::abs(accepted - std::round(accepted)) > whole_tokens;
  const double drafted = static_cast<double>(counts.steps) * gamma;
  const auto rate = measured.real("acceptance_rate");
  if (rate && drafted > 0.0 && std::abs(accepted / drafted - *rate) < same_record_rate)
    counts.drafted_tokens = whole(drafted);
  check_counts(counts, observation.gamma, measured.line(), contents);
  observation.acceptance = std::move(counts);
}

/// The time between chunks, if it is that of iterations; else nullopt, with a warning (W07).
std::optional<double> record_iteration_ms(const JsonFields& measured, const Observation& observation,
                                          LogContents& contents) {
  const auto chunk_ms = number_or_mean(measured, "itl_ms");
  if (!chunk_ms || !observation.times.tpot_ms || *observation.times.tpot_ms <= 0.0) return std::nullopt;
  const auto length = observation.acceptance ? tokens_per_step(*observation.acceptance) : observation.acceptance_length;
  if (*chunk_ms / *observation.times.tpot_ms >= per_chunk * length.value_or(1.0)) return chunk_ms;
  warn_once(contents, "W07", measured.line(),
            "the inter-token latency is not that of iterations: chunks hold about one token");
  return std::nullopt;
}

void read_benchmark_record(const JsonFields& record, LogContents& contents) {
  const JsonFields measured = record.has("measured") ? record.required_object("measured") : record;
  const bool plain = !measured.has("spec_num_drafts") && !measured.has("accepted_length_tau");
  Observation observation{.line = record.line(),
                          .span = Span::run,
                          .decoding = plain ? Decoding::plain : Decoding::speculative,
                          .requests = record.real("concurrency"),
                          .concurrency = record.real("concurrency")};
  ObservedTimes& times = observation.times;
  times.duration_s = measured.real("wall_time_s");
  times.output_tokens_per_s = measured.real("throughput_tok_s");
  times.ttft_ms = number_or_mean(measured, "ttft_ms");
  const auto decode_rate = measured.real("request_decode_tok_s_mean");
  if (decode_rate && *decode_rate > 0.0) times.tpot_ms = 1000.0 / *decode_rate;
  const auto output = measured.real("total_completion_tokens");
  const auto requests = measured.real("num_requests");
  if (output && requests && *requests > 0.0) observation.stratum.output_tokens = *output / *requests;
  if (!plain) {
    observation.gamma = record.count("num_speculative_tokens");
    read_record_acceptance(measured, observation, contents);
  }
  times.iteration_ms = record_iteration_ms(measured, observation, contents);
  contents.observations.push_back(std::move(observation));
}

// ---- Lists of counters, one per line, as printed by vLLM's spec_decode.py or pasted from elsewhere.

/// Maximum error of a rate by position, printed with two digits.
constexpr double listed_rounding = 0.005;

constexpr std::string_view list_anchor =
    R"((?i)^[ \t*-]*(?:num(?:ber[ _]of)?[ _](?:drafts|draft[ _](?:proposals|rounds)|draft(?:ed)?[ _]tokens(?:[ _]generated)?)"
    R"(|accepted[ _](?:draft[ _])?tokens|spec(?:ulative)?[ _]tokens|spec[ _]steps|tokens[ _]generated[ _]without[ _]sd))"
    R"(|total_num_output_tokens|(?:mean[ _]|avg[ _]|average[ _])?accept(?:ance)?[ _]length(?:[ _]histogram)?)"
    R"(|acceptance[ _](?:rate[ _])?at[ _](?:token|pos(?:ition)?)[ _]\d+)[ \t]*[:=])"
    R"(|^[ \t*-]*(?:(?:[a-z]+[ _])?output[ _](?:tok(?:en)?s?|throughput)[ _(]*(?:tok(?:en)?s?)?(?:[ _/]|per)+s(?:ec(?:ond)?)?\)?)"
    R"(|(?:total|wall|elapsed)[ _]time[ _](?:in[ _]seconds|\(?s(?:ec(?:ond)?s?)?\)?))[ \t]*[:=][ \t]*\d)"
    R"(|^[ \t*-]*(?:(?:total|wall|elapsed)[ _]time: *[\d.]+ ?s(?:ec(?:ond)?s?)?[ \t]*$|(?:drft|drafter|draft[ _]model|mode): *\S))"
    R"(|^[ \t*-]*(?:verify[ _](?:cycles|steps)|cycles|rounds|(?:drafted|proposed)(?:[ _]tokens)?)"
    R"(|accepted(?:[ _](?:drafts|draft[ _]tokens|tokens))?|candidate[ _]calls)"
    R"(|(?:candidates|tokens|drafts)[ _](?:drafted|proposed|accepted))[ \t]*[:=][ \t]*\d+[ \t]*\r?$)"
    R"(|\bconcurrency *[:=] *\d)"
    R"(|^[ \t*-]*[a-z][^\n:|]{0,60}: *[\d.]+ ?s(?:ec(?:ond)?s?)?[ \t]*\r?$|^[ \t*-]*speed-?up: *\d[\d.]* ?(?:x|\x{c3}\x{97}))";

/// Spellings of one field; the first is its name.
using Spellings = std::array<std::string_view, 11>;
constexpr std::array<Spellings, 8> spellings{{
    {"num_drafts", "num_spec_steps", "num_draft_proposals", "num_draft_rounds", "cycles", "rounds", "verify_steps",
     "verify_cycles", "candidate_calls"},
    {"num_draft_tokens", "num_drafted_tokens", "num_draft_tokens_generated", "num_drafted_tokens_generated", "drafted",
     "drafted_tokens", "proposed", "proposed_tokens", "candidates_proposed", "tokens_proposed", "tokens_drafted"},
    {"num_accepted_tokens", "num_accepted_draft_tokens", "accepted", "accepted_drafts", "accepted_tokens",
     "accepted_draft_tokens", "candidates_accepted", "tokens_accepted", "drafts_accepted"},
    {"num_spec_tokens", "num_speculative_tokens"},
    {"mean_acceptance_length", "acceptance_length", "accept_length", "avg_acceptance_length",
     "average_acceptance_length", "mean_accept_length", "avg_accept_length", "average_accept_length"},
    {"total_time_s", "total_time", "total_time_in_seconds", "total_time_seconds", "total_time_sec", "wall_time_s",
     "wall_time", "elapsed_time"},
    {"name", "mode", "drft", "drafter", "draft_model"},
    {"output_tokens_per_s", "output_tokens_per_second", "output_tokens_per_sec", "output_tokens_s", "output_tok_s",
     "output_throughput_tok_s", "output_throughput_tokens_s", "output_throughput_tokens_per_second"},
}};

/// The key in lower case, with single underscores between words, replaced by the first of its spellings.
std::string plain_key(std::string_view key) {
  std::string plain;
  for (const char c : key) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter) plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (!letter && !plain.empty() && plain.back() != '_') plain += '_';
  }
  if (plain.ends_with('_')) plain.pop_back();
  constexpr std::string_view counted = "number_of_";
  if (plain.starts_with(counted)) plain.replace(0, counted.size(), "num_");
  for (const Spellings& field : spellings) {
    if (std::find(field.begin(), field.end(), plain) != field.end()) return std::string(field[0]);
  }
  for (const std::string_view position : {"acceptance_at_pos_", "acceptance_at_position_", "acceptance_rate_at_token_",
                                          "acceptance_rate_at_pos_", "acceptance_rate_at_position_"}) {
    if (plain.starts_with(position)) plain.replace(0, position.size(), "acceptance_at_token_");
  }
  return plain;
}

/// Fields of the times of whole runs with and without speculation: "Baseline: 30 s".
constexpr const char* plain_time = "plain_time_s";
constexpr const char* drafting_time = "drafting_time_s";

class KeyValuesReader final : public BlockReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    static const RE2 load(R"((?i)\bconcurrency *[:=] *(\d{1,6})\b)");
    static const RE2 of_time(R"((?i)[ \t*-]*([^:|]+): *([\d.]+) ?s(?:ec(?:ond)?s?)?\s*)");
    static const RE2 gain(R"((?i)[ \t*-]*speed-?up: *(\d[\d.]*) ?(?:x|\x{d7}).*)");
    std::string words;
    const std::optional<KeyValue> field = key_value(text);
    if (!field || field->value.empty()) return false;
    if (std::string requests; RE2::PartialMatch(piece(text), load, &requests)) {
      add("concurrency", requests, number, contents);
      return false;  // a line of any program
    }
    const std::string key = plain_key(field->key);
    if (std::string name; key != "total_time_s" && RE2::FullMatch(piece(text), of_time, &name, &words)) {
      if (arm_phrases(name).empty()) return false;
      add(arm_phrases(name).front().is_plain() ? plain_time : drafting_time, words, number, contents);
      if (const auto arm = arm_in_text(name); arm && !arm->plain) drafting_ = *arm;
      if (arm_phrases(name).front().is_plain()) plain_line_ = number;
      return false;  // until their ratio is stated
    }
    if (RE2::FullMatch(piece(text), gain, &words)) {
      if (!block().has(plain_time) || !block().has(drafting_time)) return false;
      add("speedup", words, number, contents);
      return true;
    }
    if (key == "name") {
      if (block().has("total_time_s")) close(contents);
      name_ += (name_.empty() ? "" : ", ") + std::string(field->value);
      return false;
    }
    add(key, field->value, number, contents);
    return key != "num_spec_tokens";  // which may be the line above a run of another program
  }
  void finish(LogContents& contents) override;

 private:
  void read(const KeyValueBlock& block, LogContents& contents) override;
  void read_times(const KeyValueBlock& block, Observation& run, LogContents& contents);

  Arm drafting_ = {};                     ///< of the last time with speculation
  std::int64_t plain_line_ = 0;           ///< of the last time without speculation
  std::vector<std::size_t> timed_ = {};   ///< observations of blocks that state the time of each arm
  std::string name_ = {};                 ///< of the next result: its drafter, its mode
  std::vector<Observation> totals_ = {};  ///< of which only the time of all answers is known
};

/// Nullopt if steps are neither listed nor follow from drafted tokens and draft length.
std::optional<AcceptanceCounts> counts_of(const KeyValueBlock& block) {
  AcceptanceCounts counts{.drafted_tokens = block.count("num_draft_tokens"),
                          .accepted_tokens = block.count("num_accepted_tokens")};
  const auto gamma = block.count("num_spec_tokens");
  if (const auto drafts = block.count("num_drafts")) {
    counts.steps = *drafts;
  } else if (gamma && *gamma > 0 && counts.drafted_tokens && *counts.drafted_tokens % *gamma == 0) {
    counts.steps = *counts.drafted_tokens / *gamma;
  }
  if (counts.steps <= 0) return std::nullopt;
  return counts;
}

/// Reads the seconds of both arms, if the speedup that is stated is their ratio.
void KeyValuesReader::read_times(const KeyValueBlock& block, Observation& run, LogContents& contents) {
  constexpr double rounded = 0.02;
  const auto plain = block.real(plain_time), drafting = block.real(drafting_time), gain = block.real("speedup");
  if (!plain || !drafting || !gain || !(*drafting > 0.0) || std::abs(*plain / *drafting - *gain) > rounded * *gain)
    return;
  run.times.tpot_ms = 1000.0 * *drafting;
  if (!run.gamma) run.gamma = whole(drafting_.gamma);
  run.drafter = drafting_.drafter;
  run.stratum.category = fmt::format("line {}", plain_line_);
  Observation other{.line = plain_line_, .span = Span::run, .decoding = Decoding::plain, .stratum = run.stratum};
  other.times.tpot_ms = 1000.0 * *plain;
  timed_.push_back(contents.observations.size());
  contents.observations.push_back(std::move(other));
  timed_.push_back(contents.observations.size());  // that of `run`
}

void KeyValuesReader::read(const KeyValueBlock& block, LogContents& contents) {
  Observation run{.line = block.line(), .span = Span::run, .decoding = Decoding::speculative};
  run.gamma = block.count("num_spec_tokens");
  if (run.gamma) contents.settings.gamma = run.gamma;
  run.acceptance = counts_of(block);
  if (run.acceptance) {
    AcceptanceCounts& counts = *run.acceptance;
    if (!run.gamma) run.gamma = steady_gamma(counts);
    std::vector<double> rates = block.list("acceptance_at_token_");
    if (rates.empty() && block.has("acceptance_at_token_1")) {
      rates = block.list("acceptance_at_token_", 1);
      if (run.gamma != static_cast<std::int64_t>(rates.size())) {  // the first may be cut off
        rates.clear();
        warn_once(contents, "W18", block.line(), "ignored acceptance by position: position 0 is missing");
      }
    }
    // An n-gram drafter drafts fewer tokens at the end of a match, and nothing without one.
    if (!run.gamma && !rates.empty()) run.gamma = static_cast<std::int64_t>(rates.size());
    if (const auto others = block.count("num_tokens_generated_without_sd"); others && counts.accepted_tokens)
      counts.generated_tokens = counts.steps + *counts.accepted_tokens + *others;
    else
      set_generated_tokens(counts, block.real("total_num_output_tokens"));  // with few first ones
    if (run.gamma && static_cast<std::int64_t>(rates.size()) > *run.gamma) {
      rates.resize(static_cast<std::size_t>(*run.gamma));
      warn_once(contents, "W08", block.line(),
                fmt::format("more positions are listed than the {} drafted ones: ignored the others", *run.gamma));
    }
    set_positions(counts, rates, std::nullopt, listed_rounding, block.line());
    check_counts(counts, run.gamma, block.line(), contents);
    read_times(block, run, contents);
  } else {
    run.acceptance_length = measure_in(block.text("mean_acceptance_length")).value;
    run.times.output_tokens_per_s = block.real("output_tokens_per_s");
    run.concurrency = run.requests = block.real("concurrency");
    if (const auto seconds = block.real("total_time_s"); seconds && *seconds > 0.0 && !run.times.output_tokens_per_s) {
      static const RE2 length(R"((?i)\blength[ =:]+(\d{1,2})\b)");
      const std::string name = std::exchange(name_, {});
      const bool plain = arm_named(name).plain;
      if (int drafts = 0; RE2::PartialMatch(name, length, &drafts)) run.gamma = drafts;
      if (!run.acceptance_length) run.decoding = plain ? Decoding::plain : Decoding::unknown;
      if (!name.empty() && !plain) run.drafter = name;
      run.times.tpot_ms = 1000.0 * *seconds;
      totals_.push_back(std::move(run));
      return;
    }
    read_times(block, run, contents);
    if (run.times.tpot_ms) {
      contents.observations.push_back(std::move(run));
      return;
    }
    if (!run.acceptance_length && run.times.output_tokens_per_s) run.decoding = Decoding::unknown;
    if (!run.acceptance_length && !run.times.output_tokens_per_s) return;
    // DFlash lists the shares of the steps that emitted 0, 1, ... tokens, the last of which is the bonus token.
    const auto shares = std::ranges::count(block.text("acceptance_length_histogram"), '%');
    if (!run.gamma && shares > 2) run.gamma = shares - 2;
  }
  if (block.has("total_num_output_tokens")) contents.engine = "vllm";
  contents.observations.push_back(std::move(run));
}

/// Totals of several runs have the ratios of their speeds, and no other meaning: of one, or beside speeds, only the
/// acceptance is read.
void KeyValuesReader::finish(LogContents& contents) {
  close(contents);
  const bool compared = totals_.size() > 1 && contents.observations.empty() && contents.format == "key-values";
  for (Observation& run : totals_) {
    if (!compared) run.times.tpot_ms.reset();
    if (compared || run.acceptance_length) contents.observations.push_back(std::move(run));
  }
  constexpr std::size_t of_one_block = 2;
  if (timed_.size() == of_one_block)
    for (const std::size_t at : timed_) contents.observations[at].stratum.category.reset();
  if (compared || !timed_.empty())
    warn_once(contents, "W12", contents.observations.front().line,
              "the times are of whole runs, prompts included: only their ratios count, not the TPOT");
}

}  // namespace

CsvFormat own_csv_format() { return {"gamma|decoding", claims_own_csv, read_own_row}; }

JsonFormat benchmark_records_format() {
  return {"accepted_length_tau|spec_num_drafts|throughput_tok_s", of_first<is_benchmark_record>,
          of_each<read_benchmark_record>, true};
}

LineFormat key_values_format() { return lines_of<KeyValuesReader>(list_anchor); }

}  // namespace foredraft::logs
