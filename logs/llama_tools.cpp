// SPDX-License-Identifier: Apache-2.0
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"

/// Output of the command-line tools of llama.cpp and ik_llama.cpp.
namespace foredraft::logs {

// ---- `llama-bench -o json|jsonl|csv`: never speculative. A test with only n_gen decodes one sequence, one with only
// n_prompt is a prefill. A test with both is ignored: its time cannot be split.

namespace {

template <typename Fields>
void read_llama_bench_test(const Fields& test, LogContents& contents) {
  note(contents.settings.target, test.text("model_filename"));
  if (const auto build = test.text("build_number"); build && contents.version.empty()) contents.version = "b" + *build;
  const auto prompt = test.count("n_prompt");
  const auto generated = test.count("n_gen");
  const auto tokens_per_s = test.real("avg_ts");
  if (!tokens_per_s || *tokens_per_s <= 0.0 || (prompt == 0 && generated == 0)) return;
  if (prompt != 0 && generated != 0) {
    return warn_once(contents, "W12", test.line(),
                     prompt && generated ? "ignored tests that time prefill and decoding together"
                                         : "ignored tests without n_prompt or n_gen: prefill may be in their times");
  }
  Observation observation{.line = test.line(), .span = Span::run, .decoding = Decoding::plain, .requests = 1.0};
  const auto tokens = prompt == 0 ? generated : prompt;
  const auto depth = test.real("n_depth");
  if (depth && tokens) observation.stratum.context_tokens = *depth + static_cast<double>(*tokens) / 2.0;
  if (prompt == 0) {
    observation.times.output_tokens_per_s = tokens_per_s;
    observation.times.iteration_ms = observation.times.tpot_ms = 1000.0 / *tokens_per_s;
    if (generated) observation.stratum.output_tokens = static_cast<double>(*generated);
  } else {
    observation.times.prompt_tokens_per_s = tokens_per_s;
  }
  contents.observations.push_back(std::move(observation));
}

/// Any two keys identify a test, if one is of its times.
constexpr std::array<const char*, 6> test_time_keys{"avg_ts", "stddev_ts", "samples_ts",
                                                    "avg_ns", "stddev_ns", "samples_ns"};
constexpr std::array<const char*, 5> test_keys{"n_prompt", "n_gen", "n_depth", "build_number", "model_filename"};

bool is_llama_bench_test(const JsonValue& value) {
  const auto times = keys_of(value, test_time_keys);
  return times > 0 && times + keys_of(value, test_keys) >= 2;
}

bool claims_llama_bench_csv(std::span<const std::string> columns) {
  return has_columns(columns, {"n_prompt", "n_gen", "avg_ts"});
}

// ---- `llama-batched-bench --output-format jsonl`: autoregressive decoding of several sequences at once.

/// Any two keys identify a row, if one is of its times.
bool claims_llama_batched_bench(const JsonValue& value) {
  constexpr std::array<const char*, 4> times{"t_tg", "speed_tg", "t_pp", "speed_pp"};
  constexpr std::array<const char*, 6> others{"pp", "tg", "pl", "n_kv", "n_kv_max", "is_pp_shared"};
  const auto timed = keys_of(value, times);
  return timed > 0 && timed + keys_of(value, others) >= 2;
}

/// A count as a double; nullopt if it or its object is absent.
std::optional<double> real_of_count(const std::optional<JsonFields>& record, std::string_view key) {
  const auto count = record ? record->count(key) : std::nullopt;
  return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
}

void read_llama_batched_bench(const JsonFields& row, LogContents& contents) {
  const auto generated = real_of_count(row, "tg");
  const auto decode_s = row.real("t_tg");
  if (generated == 0.0 || decode_s == 0.0) return;
  Observation observation{
      .line = row.line(), .span = Span::run, .decoding = Decoding::plain, .requests = real_of_count(row, "pl")};
  observation.times.duration_s = row.real("t");
  observation.times.output_tokens_per_s = row.real("speed_tg");
  observation.times.prompt_tokens_per_s = row.real("speed_pp");
  if (generated && decode_s) {
    observation.times.iteration_ms = observation.times.tpot_ms = *decode_s / *generated * 1000.0;
  } else if (observation.requests && observation.times.output_tokens_per_s.value_or(0.0) > 0.0) {
    const double tokens_per_ms = *observation.times.output_tokens_per_s / 1000.0;
    observation.times.iteration_ms = observation.times.tpot_ms = *observation.requests / tokens_per_ms;
  }
  set_lengths(real_of_count(row, "pp"), generated, observation.stratum);
  contents.observations.push_back(std::move(observation));
}

// ---- The tables of llama-bench (Markdown), llama-batched-bench and llama-sweep-bench: autoregressive decoding, one
// sequence or several at once.

/// Rows of | PP | TG | B | N_KV | T_PP s | S_PP t/s | T_TG s | S_TG t/s | T s | S t/s |, of llama-sweep-bench (without
/// B and the last two), or of llama-bench, which end with a test and its speed.
constexpr std::string_view table_anchor =
    R"(^\|(?:[ \t]*[\d.]+[ \t]*\|){7}(?:(?:[ \t]*[\d.]+[ \t]*\|){3}|(?:[ \t]*(?:[\d.]+|n/a)[ \t]*\|){2})?[ \t]*\r?$)"
    R"(|^\|[^\n]*\|[ \t]*(?:pp|tg) ?\d+[^|\n]*\|[ \t]*\d)";

std::optional<double> number_in(std::string_view cell) { return take_number(cell); }

std::optional<Observation> batched_row(const std::vector<std::string>& cells, std::int64_t line) {
  const auto prompt = number_in(cells[0]);
  const auto output = number_in(cells[1]);
  const auto batch = number_in(cells[2]);
  const auto decode_s = number_in(cells[6]);
  const auto duration = number_in(cells[8]);
  if (!prompt || !output || !batch || !decode_s || !(*output > 0.0) || !(*batch > 0.0)) return std::nullopt;
  Observation run{.line = line, .span = Span::run, .decoding = Decoding::plain};
  run.requests = batch;
  run.times = {.duration_s = duration,
               .output_tokens_per_s = number_in(cells[7]),
               .prompt_tokens_per_s = number_in(cells[5]),
               .iteration_ms = 1000.0 * *decode_s / *output,
               .tpot_ms = 1000.0 * *decode_s / *output};
  run.stratum.context_tokens = *prompt + *output / 2.0;
  run.stratum.output_tokens = output;
  return run;
}

/// Whether `rate` is `tokens` in `seconds`, all rounded.
bool is_rate(double rate, double tokens, double seconds) {
  constexpr double rounded = 0.01;
  return seconds > 0.0 && std::abs(rate * seconds - tokens) <= rounded * tokens;
}

/// llama-sweep-bench of ik_llama.cpp: | PP | TG | N_KV | T_PP s | S_PP t/s | T_TG s | S_TG t/s |, one sequence with a
/// context of N_KV. Its speeds must follow from its times, which distinguishes it from other tables of numbers.
/// `--sweep-memory` adds two columns.
std::optional<Observation> sweep_row(std::span<const std::string> cells, std::int64_t line) {
  constexpr std::size_t times = 7;
  std::vector<double> numbers;
  for (const std::string& cell : cells.first(times)) {
    const auto number = number_in(cell);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  const double output = numbers[1];
  if (!(output > 0.0) || !is_rate(numbers[4], numbers[0], numbers[3]) || !is_rate(numbers[6], output, numbers[5]))
    return std::nullopt;
  Observation run{.line = line, .span = Span::run, .decoding = Decoding::plain, .requests = 1.0};
  const double step_ms = 1000.0 * numbers[5] / output;
  run.times = {.output_tokens_per_s = numbers[6],
               .prompt_tokens_per_s = numbers[4],
               .iteration_ms = step_ms,
               .tpot_ms = step_ms};
  run.stratum.context_tokens = numbers[2] + output / 2.0;
  run.stratum.output_tokens = output;
  return run;
}

/// A test "tg128" or "pp512 @ d4096": one sequence, here after a context of 4096 tokens.
std::optional<Observation> bench_row(std::string_view test, std::string_view speed, std::int64_t line) {
  const bool generates = test.starts_with("tg");
  if (!generates && !test.starts_with("pp")) return std::nullopt;
  std::string_view rest = test.substr(2);
  const auto tokens = take_number(rest);
  const auto rate = number_in(speed);
  if (!tokens || !rate || !(*rate > 0.0) || rest.find('+') != rest.npos || rest.find("(c") != rest.npos)
    return std::nullopt;  // "tg128 (c4)" is of llama-benchy, whose server may speculate
  Observation run{.line = line, .span = Span::run, .decoding = Decoding::plain};
  run.requests = 1.0;
  run.stratum.context_tokens = number_after(rest, "@ d").value_or(0.0) + *tokens / 2.0;
  if (generates) {
    run.times.output_tokens_per_s = rate;
    run.times.iteration_ms = run.times.tpot_ms = 1000.0 / *rate;
    run.stratum.output_tokens = tokens;
  } else {
    run.times.prompt_tokens_per_s = rate;
  }
  return run;
}

class LlamaTablesReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    const std::vector<std::string> cells = table_cells(text, TableLayout::bars);
    if (cells.size() < 2) return false;
    std::optional<Observation> run = bench_row(cells[cells.size() - 2], cells.back(), number);
    if (!run && cells.size() == 10) run = batched_row(cells, number);
    if (!run && (cells.size() == 7 || cells.size() == 9)) run = sweep_row(cells, number);
    if (run) contents.observations.push_back(*run);
    return run.has_value();
  }
};

// ---- The output of llama-speculative and llama-speculative-simple at the end of a run.

constexpr std::string_view speculative_anchor =
    R"(^(?:[\d.]+ [A-Z] )?(?:n_draft|n_predict|n_drafted|n_accept)[ \t]+=|(?:encoded|decoded|generated) +\d+ tokens in)"
    R"(|^(?:[\d.]+ [A-Z] )?(?:draft|target):[ \t]*\r?$|_(?:print|print_timings):[ \t]+eval time =)";

class LlamaSpeculativeReader final : public BlockReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;

 private:
  void read(const KeyValueBlock& block, LogContents& contents) override;
  [[nodiscard]] bool is_of_this_run(std::optional<double> tokens) const;

  bool of_draft_ = false;  ///< the following times are the draft model's
};

bool LlamaSpeculativeReader::line(std::string_view text, std::int64_t number, LogContents& contents) {
  static const RE2 logged(R"([\d.]+\.\d+ [A-Z] )");  // "20.06.639.660 I n_draft = 3", since 2026
  re2::StringPiece rest = piece(text);
  if (RE2::Consume(&rest, logged)) text = {rest.data(), rest.size()};
  if (text.find("eval time =") != std::string_view::npos) {
    const auto draft_ms = number_after(text, "eval time =");
    const bool taken = of_draft_ && draft_ms && block().has("n_drafted");
    if (taken && !block().has("draft ms")) add("draft ms", text.substr(text.find('=') + 1), number, contents);
    of_draft_ = false;
    return taken;
  }
  const std::optional<KeyValue> field = key_value(text);
  if (text.starts_with("n_")) return BlockReader::line(text, number, contents);
  if (text.find("encoded ") != std::string_view::npos) {  // the first line of a run
    close(contents);
    return false;
  }
  constexpr std::string_view decoded = " tokens in";
  if (const std::size_t at = text.find(decoded); at != std::string_view::npos) {
    std::string_view tokens = text.substr(text.find_first_of("0123456789"));
    if (!is_of_this_run(take_number(tokens))) close(contents);
    add("seconds", text.substr(at + decoded.size()), number, contents);
    return true;
  }
  of_draft_ = field && field->key == "draft";
  if (block().has("n_drafted") && !block().has("models")) add("models", "", number, contents);
  return false;
}

/// Whether a printed speed is of the run whose counters were read. Most versions print it before them. Others print it
/// after them, with the same number of tokens, and print no times of the models in between.
bool LlamaSpeculativeReader::is_of_this_run(std::optional<double> tokens) const {
  return !block().has("n_drafted") || (!block().has("models") && block().real("n_predict") == tokens);
}

void LlamaSpeculativeReader::read(const KeyValueBlock& block, LogContents& contents) {
  const auto tokens = block.count("n_predict");
  const auto accepted = block.count("n_accept");
  if (!tokens || !accepted) return;
  // Each step emits one token that was not drafted.
  AcceptanceCounts counts{
      .steps = *tokens - *accepted, .drafted_tokens = block.count("n_drafted"), .accepted_tokens = accepted};
  check_counts(counts, std::nullopt, block.line(), contents);
  if (counts.steps <= 0) {
    reject({.line = block.line(),
            .key = "n_accept",
            .text = "every token was drafted",
            .why = "each step emits one that was not"});
  }
  Observation run{.line = block.line(), .span = Span::run, .decoding = Decoding::speculative};
  const auto steps = static_cast<double>(counts.steps);
  run.gamma = block.count("n_draft");
  run.requests = 1.0;
  if (const auto seconds = block.real("seconds"); seconds && *seconds > 0.0) {
    run.times.duration_s = seconds;
    run.times.output_tokens_per_s = static_cast<double>(*tokens) / *seconds;
    run.times.iteration_ms = 1000.0 * *seconds / steps;
  }
  if (const auto draft_ms = block.real("draft ms")) run.times.draft_ms = *draft_ms / steps;
  run.acceptance = std::move(counts);
  contents.observations.push_back(std::move(run));
}

// ---- `llama-spec-bench --output-format jsonl` of ik_llama.cpp: attempts with and without speculation in one file,
// with positions and draft times. Summary rows repeat the attempts and are ignored.

/// A row type and a section identify a row, and so do any two keys of sections.
bool claims_ik_spec_bench(const JsonValue& value) {
  constexpr std::array<const char*, 4> sections{"variant", "timing", "tokens", "speculative"};
  const auto holds = [&](const char* section, const char* key) {
    return value.contains(section) && has_keys(value.at(section), {key}) ? 1 : 0;
  };
  if (has_keys(value, {"row_type"}) && keys_of(value, sections) > 0) return true;
  return holds("variant", "is_baseline") + holds("timing", "decode_s") + holds("speculative", "num_drafts") +
             holds("speculative", "acceptance_length") >=
         2;
}

void add_positions(std::vector<std::int64_t>& sum, const std::vector<std::int64_t>& counts, std::int64_t line) {
  if (sum.size() < counts.size()) sum.resize(counts.size(), 0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::int64_t both[] = {sum[i], counts[i]};
    sum[i] = sum_of_counts(both, "accepted_by_position", line);
  }
}

void read_ik_acceptance(const JsonFields& drafts, Observation& observation, LogContents& contents) {
  const auto steps = drafts.count("num_drafts");
  if (!steps) {
    observation.acceptance_length = drafts.length("acceptance_length");
    return;
  }
  AcceptanceCounts counts{.steps = *steps,
                          .drafted_tokens = drafts.count("draft_tokens"),
                          .accepted_tokens = drafts.count("accepted_tokens")};
  for (const JsonFields& stage : drafts.objects("stages")) {
    add_positions(counts.accepted_at, stage.counts("accepted_by_position"), drafts.line());
    add_positions(counts.drafted_at, stage.counts("drafted_by_position"), drafts.line());
  }
  if (!counts.drafted_at.empty()) observation.gamma = static_cast<std::int64_t>(counts.drafted_at.size());
  check_counts(counts, observation.gamma, drafts.line(), contents);
  check_printed_length(counts, drafts.real("acceptance_length"), two_digits, drafts.line(), contents);
  const auto draft_s = drafts.real("t_draft_s");
  if (draft_s && counts.steps > 0) observation.times.draft_ms = *draft_s * 1000.0 / static_cast<double>(counts.steps);
  observation.acceptance = std::move(counts);
}

/// Whether the steps, which emit one token each, and the accepted drafts add up to the output; if not, some steps did
/// not draft.
bool every_step_drafted(const AcceptanceCounts& counts, std::optional<std::int64_t> generated) {
  constexpr std::int64_t ends = 2;  // the first token comes from the prompt, the last step may be cut
  return generated && counts.accepted_tokens && std::abs(*generated - counts.steps - *counts.accepted_tokens) <= ends;
}

/// The decoding of a row, by `is_baseline`; without that flag, a row that counts drafts is speculative, others unknown.
Decoding arm_of(const JsonFields& row) {
  const auto variant = row.object("variant");
  const auto baseline = variant ? variant->flag("is_baseline") : std::nullopt;
  if (baseline) return *baseline ? Decoding::plain : Decoding::speculative;
  return row.has("speculative") ? Decoding::speculative : Decoding::unknown;
}

void read_ik_spec_bench(const JsonFields& row, LogContents& contents) {
  if (row.text("row_type").value_or("attempt") != "attempt") return;
  Observation observation{.line = row.line(), .span = Span::request, .decoding = arm_of(row), .requests = 1.0};
  const auto decode_s = row.real_in("timing", "decode_s");
  const auto generated = real_of_count(row.object("tokens"), "generated");
  observation.times.output_tokens_per_s = row.real_in("timing", "decode_tps");
  if (const auto prompt_s = row.real_in("timing", "prompt_s")) observation.times.ttft_ms = *prompt_s * 1000.0;
  if (decode_s && generated.value_or(0.0) > 0.0) observation.times.tpot_ms = *decode_s * 1000.0 / *generated;
  set_lengths(real_of_count(row.object("tokens"), "prompt"), generated, observation.stratum);
  if (observation.decoding == Decoding::plain) observation.times.iteration_ms = observation.times.tpot_ms;
  if (observation.decoding == Decoding::speculative) {
    if (const auto drafts = row.object("speculative")) read_ik_acceptance(*drafts, observation, contents);
    const auto& counts = observation.acceptance;
    if (decode_s && counts && counts->steps > 0 && every_step_drafted(*counts, whole(generated))) {
      observation.times.iteration_ms = *decode_s * 1000.0 / static_cast<double>(counts->steps);
    }
    const auto variant = row.object("variant");
    if (variant && variant->has("spec_types") && variant->json().at("spec_types").is_string()) {
      note(contents.settings.method, variant->text("spec_types"));
    }
  }
  contents.observations.push_back(std::move(observation));
}

}  // namespace

JsonFormat llama_bench_format() {
  return {"(?:avg|stddev|samples)_(?:ts|ns)", of_first<is_llama_bench_test>,
          of_each<read_llama_bench_test<JsonFields>>};
}

CsvFormat llama_bench_csv_format() { return {"avg_ts", claims_llama_bench_csv, read_llama_bench_test<CsvFields>}; }

JsonFormat llama_batched_bench_format() {
  return {"(?:t|speed)_(?:tg|pp)", claims_llama_batched_bench, of_object<read_llama_batched_bench>};
}

LineFormat llama_tables_format() { return lines_of<LlamaTablesReader>(table_anchor); }

LineFormat llama_speculative_format() { return lines_of<LlamaSpeculativeReader>(speculative_anchor); }

JsonFormat ik_spec_bench_format() {
  return {"row_type|is_baseline|decode_s|num_drafts|acceptance_length", claims_ik_spec_bench,
          of_object<read_ik_spec_bench>};
}

}  // namespace foredraft::logs
