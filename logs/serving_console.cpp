// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/numbers.hpp"
#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"
#include "logs/serving_runs.hpp"
#include "logs/sglang_options.hpp"
#include "logs/stated_run.hpp"

/// Console output of the load generators `vllm bench serve`, `sglang.bench_serving` and benchmark_serving of
/// TensorRT-LLM, complete or in part; and the output of the scripts of SGLang and SpecForge for a set of questions.
namespace foredraft::logs {
namespace {

/// Maximum error of a rate by position, printed in percent with two digits.
constexpr double percent_rounding = 0.00005;

constexpr std::string_view console_anchor =
    R"(^[ \t]*(?:Backend|Traffic request rate|Max(?:imum)? request concurrency|(?:Successful|Failed) requests)"
    R"(|Request rate configured \(RPS\)|Benchmark duration \(s\)|Total input tokens|Total generated tokens)"
    R"(|Total generated tokens \(retokenized\)|Request throughput \(req/s\)|(?:Peak o|O)utput token throughput \(tok/s\))"
    R"(|User throughput \(tok/s\)|Concurrency|(?:Mean|Median) (?:E2EL|E2E Latency|TTFT|TPOT|ITL) \(ms\))"
    R"(|(?:Mean|Median) Avg Decoded Tokens per Iter|Accept length|Acceptance rate \(%\))"
    R"(|Acceptance length|Drafts|Draft tokens|Accepted tokens|Position \d+):|= Serving Benchmark Result =)"
    R"(|-Speculative Decoding-)"
    R"(|^[ \t]*(?:(?:Average )?(?:Latency: [\d.]+ s|Output throughput: [\d.]+ token/s)|Average Accept length: )"
    R"(|Num prompts: +\d|Output tokens: +\d|Spec verify ct: +\d|Throughput: +[\d.,]+ tok/s|#questions: )|--speculative|--max[-_]concurrency|\bmax_concurrency=|--parallel)"
    R"(|\bvllm serve |api_server |\bbench(?:mark)?_serving|\bvllm bench serve)"
    R"(|^Running benchmark \w.*\bsteps \d|^\w[^:]* Evaluation Results$)";

bool is_sglang_client(const KeyValueBlock& block) {
  return block.has("Backend") || block.has("Total generated tokens (retokenized)") || block.has("Accept length");
}

/// The heading of a client's section on drafts.
constexpr std::string_view drafts_heading = "Speculative Decoding";

/// TensorRT-LLM's client: tokens of an iteration, a mean over answers; 1.00 without speculation.
constexpr std::string_view tokens_of_iteration = "Mean Avg Decoded Tokens per Iter";

bool is_trtllm_client(const KeyValueBlock& block) {
  return block.has(tokens_of_iteration) || block.has("User throughput (tok/s)");
}

std::optional<double> request_rate(const KeyValueBlock& block) {
  const auto rate = block.real("Request rate configured (RPS)");
  return rate ? rate : block.real("Traffic request rate");
}

/// A latency of the console: its mean, else its median with a warning (W20).
std::optional<double> latency_ms(const KeyValueBlock& block, std::string_view name, LogContents& contents) {
  if (const auto mean = block.real(fmt::format("Mean {} (ms)", name))) return mean;
  const auto median = block.real(fmt::format("Median {} (ms)", name));
  if (median) warn_of_median(name, block.line(), contents);
  return median;
}

/// The mean time per output token; if it was cut off, latency less TTFT, per token after the first of each request.
std::optional<double> tpot_ms(const KeyValueBlock& block, LogContents& contents) {
  const auto printed = latency_ms(block, "TPOT", contents);
  const auto ttft = block.real("Mean TTFT (ms)");
  auto whole_ms = block.real("Mean E2E Latency (ms)");
  if (!whole_ms) whole_ms = block.real("Mean E2EL (ms)");
  const double later =
      block.real("Total generated tokens").value_or(0.0) - block.real("Successful requests").value_or(0.0);
  if (printed || !whole_ms || !ttft || *whole_ms < *ttft || !(later > 0.0)) return printed;
  return (*whole_ms - *ttft) * *block.real("Successful requests") / later;
}

void set_lengths(const KeyValueBlock& block, Stratum& stratum) {
  const auto requests = block.real("Successful requests");
  const auto prompt = block.real("Total input tokens");
  const auto output = block.real("Total generated tokens");
  if (!output || !requests || !(*requests > 0.0)) return;
  stratum.output_tokens = *output / *requests;
  if (prompt) stratum.context_tokens = (*prompt + *output / 2.0) / *requests;
}

/// Tokens of a chunk, ITL / TPOT, of vLLM's client; nullopt for SGLang's.
std::optional<double> chunk_tokens(const KeyValueBlock& block, LogContents& contents) {
  const auto itl = latency_ms(block, "ITL", contents);
  const auto tpot = latency_ms(block, "TPOT", contents);
  if (is_sglang_client(block) || !itl || tpot.value_or(0.0) <= 0.0) return std::nullopt;
  return *itl / *tpot;
}

void set_acceptance(const KeyValueBlock& block, Observation& run, LogContents& contents) {
  run.acceptance_length = block.real("Acceptance length");
  if (const auto since_start = block.real("Accept length")) {
    run.acceptance_length = since_start;
    warn_once(contents, "W02", block.line(), "the acceptance length is that since the start of the server");
  }
  if (const auto tokens = block.real(tokens_of_iteration); tokens && *tokens > 0.0) {
    if (*tokens < length_without_draft) {
      run.decoding = Decoding::plain;
      return;
    }
    run.acceptance_length = tokens;
    warn_once(contents, "W10", block.line(), "the acceptance length is an unweighted mean over requests");
  }
  const auto drafts = block.count("Drafts");
  if (run.acceptance_length || drafts || block.has(drafts_heading)) run.decoding = Decoding::speculative;
  const auto percent = block.real("Acceptance rate (%)");
  if (!drafts && run.acceptance_length && percent) {
    run.gamma = whole(gamma_of_rate(*run.acceptance_length, *percent / 100.0));
  }
  const auto chunk = chunk_tokens(block, contents);
  if (!run.acceptance_length && !drafts && run.decoding == Decoding::speculative &&
      chunk.value_or(0.0) >= length_without_draft) {
    run.acceptance_length = chunk;
    warn_once(contents, "W10", block.line(), "the acceptance length is ITL / TPOT, the tokens of a chunk");
  }
  if (!drafts || *drafts == 0) return;
  AcceptanceCounts counts{.steps = *drafts,
                          .drafted_tokens = block.count("Draft tokens"),
                          .accepted_tokens = block.count("Accepted tokens")};
  std::vector<double> rates = block.list("Position ");
  for (double& rate : rates) rate /= 100.0;
  set_positions(counts, rates, std::nullopt, percent_rounding, block.line());
  check_counts(counts, std::nullopt, block.line(), contents);
  run.gamma = steady_gamma(counts);
  if (!chunks_agree(block.real("Mean ITL (ms)"), block.real("Mean TPOT (ms)"), counts)) {
    set_generated_tokens(counts,
                         later_tokens(block.count("Total generated tokens"), block.count("Successful requests")));
  }
  if (!run.gamma && !rates.empty()) {
    run.gamma = static_cast<std::int64_t>(rates.size());
    if (!counts.generated_tokens && drafts_vary(counts, run.gamma)) run.adaptive = true;
  }
  run.acceptance = std::move(counts);
  run.acceptance_length = std::nullopt;
}

/// True if the log is also that of a server that speculates.
bool beside_drafts(const LogContents& contents) {
  return std::ranges::any_of(contents.observations, [](const Observation& one) {
    return one.span == Span::window && one.decoding == Decoding::speculative;
  });
}

/// Whether a chunk holds several tokens according to the throughputs: the peak of vLLM's client counts chunks.
bool exceeds_its_peak(const KeyValueBlock& block) {
  const auto peak = block.real("Peak output token throughput (tok/s)");
  return peak && *block.real("Output token throughput (tok/s)") > speculative_chunk * *peak;
}

/// The engine that a backend of SGLang's client names: "vllm-chat" has the endpoint, "engine" runs in its own process.
/// "openai" is the API of any.
std::string_view engine_of_backend(std::string_view backend) {
  if (backend.starts_with("openai")) return {};
  if (backend.starts_with("sglang") || backend == "engine" || backend == "runtime") return "sglang";
  if (backend.starts_with("vllm")) return "vllm";
  return backend == "trt" ? "tensorrt-llm" : backend;
}

/// The engine whose client prints such results; its server may be another one.
std::string_view client_of(const KeyValueBlock& block) {
  if (is_sglang_client(block)) return "sglang";
  if (is_trtllm_client(block)) return "tensorrt-llm";
  return block.has("Request rate configured (RPS)") || block.has("Drafts") ? "vllm" : "";
}

/// The engine that answered, by what its client asked for, or by what only its server tells; empty if neither is shown.
std::string_view server_of(const KeyValueBlock& block) {
  if (block.has("Backend")) return engine_of_backend(block.text("Backend"));
  if (block.has("Accept length")) return "sglang";
  if (block.has(tokens_of_iteration)) return "tensorrt-llm";
  return block.has("Drafts") ? "vllm" : "";
}

/// Printed after the throughputs; what a client says of drafts comes after these (vLLM) or right before (SGLang).
constexpr std::array<std::string_view, 4> latencies{"Mean TTFT (ms)", "Median TTFT (ms)", "Mean TPOT (ms)",
                                                    "Mean E2E Latency (ms)"};

/// A run without data on speculation counts as one without, unless it was cut off before its latencies, its chunks hold
/// several tokens, or their number is cut off and the log is also that of a server that speculates.
Decoding undrafted(const KeyValueBlock& block, std::optional<double> tokens, LogContents& contents) {
  if (!block.has("Successful requests") || !block.real("Output token throughput (tok/s)")) return Decoding::unknown;
  const bool ends = std::ranges::none_of(latencies, [&](std::string_view name) { return block.has(name); });
  if (ends) return Decoding::unknown;
  // Of other servers SGLang's client prints no acceptance.
  if (is_sglang_client(block))
    return block.has("Backend") && engine_of_backend(block.text("Backend")) != "sglang" ? Decoding::unknown
                                                                                        : Decoding::plain;
  if (!tokens && beside_drafts(contents)) return Decoding::unknown;
  if (tokens ? *tokens <= speculative_chunk : !exceeds_its_peak(block)) return Decoding::plain;
  warn_of_chunks(block.line(), contents);
  return Decoding::unknown;
}

/// ITL is the time of an iteration for vLLM's client; SGLang's divides it by the tokens of a chunk.
std::optional<double> iteration_ms(const KeyValueBlock& block, const Observation& run, LogContents& contents) {
  if (run.decoding == Decoding::unknown) return std::nullopt;
  if (block.has(tokens_of_iteration)) {
    return product(tpot_ms(block, contents), run.acceptance_length.value_or(1.0));
  }
  if (block.has("Mean ITL (ms)") && run.decoding == Decoding::speculative) {
    warn_once(contents, "W07", block.line(),
              is_sglang_client(block) ? "ITL of SGLang's client is per token: iteration times are computed from TPOT"
                                      : "ITL of vLLM's client is per iteration, not per token");
  }
  if (!is_sglang_client(block)) return latency_ms(block, "ITL", contents);
  const auto length = run.decoding == Decoding::plain ? std::optional(1.0) : run.acceptance_length;
  return product(tpot_ms(block, contents), length);
}

/// A set of questions that a script of SGLang or SpecForge asked. Without speculation they print a length of 1.
void add_questions(Observation run, std::optional<double> tokens_per_s, std::optional<double> seconds,
                   std::optional<double> length, LogContents& contents) {
  run.times = {.duration_s = seconds, .output_tokens_per_s = tokens_per_s};
  if (length) run.decoding = *length < length_without_draft ? Decoding::plain : Decoding::speculative;
  if (run.decoding == Decoding::speculative) run.acceptance_length = length;
  if (run.decoding != Decoding::speculative) run.gamma = std::nullopt;
  contents.engine = "sglang";
  contents.observations.push_back(std::move(run));
}

/// Tokens of a step, without the first token of each answer; nullopt unless tokens and steps are printed.
std::optional<double> tokens_of_steps(const KeyValueBlock& block) {
  const auto tokens = block.real("Output tokens");
  const auto steps = block.real("Spec verify ct");
  const double later = tokens.value_or(0.0) - block.real("Num prompts").value_or(0.0);
  return steps.value_or(0.0) > 0.0 && later >= *steps ? std::optional(later / *steps) : std::nullopt;
}

/// The results of a benchmark of DFlash or SpecForge. Its printed length, a mean over answers, is used without counts.
void read_prompts(const KeyValueBlock& block, LogContents& contents) {
  Observation run{.line = block.line(), .span = Span::run, .acceptance_length = tokens_of_steps(block)};
  if (run.acceptance_length) {
    run.decoding = Decoding::speculative;
  } else if (run.acceptance_length = block.real("Accept length"); run.acceptance_length) {
    run.decoding = *run.acceptance_length < length_without_draft ? Decoding::plain : Decoding::speculative;
    warn_once(contents, "W10", block.line(), "the acceptance length is an unweighted mean over requests");
  }
  if (run.decoding == Decoding::plain) run.acceptance_length = std::nullopt;
  // Not that of one server of several: "8 per server x 2 server(s)".
  if (block.text("Concurrency").find("per") == std::string_view::npos) run.concurrency = block.real("Concurrency");
  run.requests = run.concurrency;
  run.times.output_tokens_per_s = block.real("Throughput");
  if (block.has("Backend")) contents.engine = engine_of_backend(block.text("Backend"));
  contents.observations.push_back(std::move(run));
}

class ServingConsoleReader final : public BlockReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    if (text.find("= Serving Benchmark Result =") != std::string_view::npos) {
      close(contents);
      title_ = number;
      return true;
    }
    if (text.find("-Speculative Decoding-") != std::string_view::npos) {
      add(drafts_heading, "", number, contents);
      return true;
    }
    if (note_questions(text, contents)) return false;
    const bool command = note_command(text, contents);
    SglangOptions options = options_;
    if (options.read(text)) {
      close(contents);
      options_ = options;
      return false;
    }
    options_ = options;
    if (command) return false;
    const auto questions = numbers_in(text, "Throughput: # token/s, Acceptance length: #");
    if (!questions.empty()) {
      close(contents);
      add_questions(run_of_questions(number, questions[1]), questions[0], std::nullopt, questions[1], contents);
      return true;
    }
    std::optional<KeyValue> field = key_value(text);
    if (!field) return false;
    constexpr std::string_view mean = "Average ";
    if (field->key.starts_with(mean)) field->key.remove_prefix(mean.size());
    // They are printed before the duration: behind it they are of the next results.
    const bool of_load = field->key == "Traffic request rate" || field->key == "Maximum request concurrency";
    if (of_load && block().has("Benchmark duration (s)")) close(contents);
    add(field->key, field->value, number, contents);
    // Words such as "Backend" occur in many logs.
    constexpr std::array<std::string_view, 5> common{"Backend", "Concurrency", "Latency", "Num prompts",
                                                     "Output tokens"};
    return std::ranges::find(common, field->key) == common.end();
  }
  void finish(LogContents& contents) override;

 private:
  void read(const KeyValueBlock& block, LogContents& contents) override;
  /// The draft length of the SGLang server, unless the acceptance length is beyond it.
  [[nodiscard]] std::optional<std::int64_t> drafts_of_server(double length) const {
    const auto gamma = options_.gamma();
    return gamma && length < static_cast<double>(*gamma) + 1.0 + two_digits ? gamma : std::nullopt;
  }

  bool note_command(std::string_view text, LogContents& contents);
  bool note_questions(std::string_view text, LogContents& contents);
  /// Starts a run of a set of questions with this acceptance length.
  [[nodiscard]] Observation run_of_questions(std::int64_t line, double length);
  [[nodiscard]] bool join_counters(LogContents& contents) const;
  void note_engine(const KeyValueBlock& block, LogContents& contents);

  SglangOptions options_ = {};                                ///< of the server of the next results
  std::optional<double> concurrency_ = {};                    ///< of the command line above the next results
  std::optional<double> limit_above_ = {}, rate_above_ = {};  ///< of the lines before the title of the next results
  std::optional<double> parallel_ = {};                       ///< of the script that asks the next questions
  std::optional<std::string> questions_ = {};                 ///< name of the next questions
  std::optional<bool> drafts_ = {};                 ///< whether the server of the next results drafts, by its command
  std::set<std::int64_t> undrafted_ = {};           ///< lines of runs whose server does not
  std::map<std::int64_t, std::int64_t> runs_ = {};  ///< first lines of runs by their last
  std::int64_t title_ = 0;                          ///< line of the last title of results
  std::string client_ = {}, server_ = {};           ///< of the last results that show their client
  std::map<std::int64_t, double> chunks_ = {};      ///< tokens of a chunk, by line, of runs that may speculate
};

/// Command lines state what old clients do not print: the load, and whether the server drafts. Returns whether it is
/// one.
bool ServingConsoleReader::note_command(std::string_view text, LogContents& contents) {
  static const RE2 client(R"(bench(?:mark)?_serving|vllm bench serve)");
  static const RE2 server(R"(\bvllm serve |api_server )");
  static const RE2 drafts(R"(--spec(?:ulative)?[-_](?:model|config|algo|draft|method))");
  static const RE2 load(R"((?:--max[-_]concurrency[ =]|\bmax_concurrency=)(\d{1,6}|None)\b)");
  const re2::StringPiece words = piece(text);
  double requests = 0.0;
  const bool begins = RE2::PartialMatch(words, client), serves = RE2::PartialMatch(words, server);
  std::string limit;  // "None" of the options that a client prints
  const bool limits = RE2::PartialMatch(words, load, &limit);
  if (limits) requests = parse_real(limit).value_or(0.0);
  const bool speculates = RE2::PartialMatch(words, drafts);
  const bool command = begins || serves || limits || speculates;
  if (command) close(contents);
  if (begins || limits) concurrency_ = requests > 0.0 ? std::optional(requests) : std::nullopt;
  if (serves || speculates) drafts_ = speculates;
  static const RE2 questions(R"(--parallel[ =](\d{1,6})\b)");
  const bool asks = RE2::PartialMatch(words, questions, &requests) && requests > 0.0;
  if (asks) close(contents);
  if (asks) parallel_ = requests;
  return command || asks;
}

/// SpecForge says what it asks, its load and the draft options before each set of questions, and titles the results
/// with the name of the set, in other letters. Returns whether it is one of these lines.
bool ServingConsoleReader::note_questions(std::string_view text, LogContents& contents) {
  static const RE2 setting(R"(^Running benchmark ([\w.-]+).*\bsteps \d)"), title(R"(^(\w[^:]*) Evaluation Results$)"),
      load(R"(\bbatch[ _]size[ =:]+(\d{1,6})\b)");
  std::string name;
  const bool set = RE2::PartialMatch(piece(text), setting, &name);
  if (!set && !RE2::PartialMatch(piece(text), title, &name)) return false;
  close(contents);
  if (set) {
    questions_ = name;
    options_.read(text);
    double requests = 0.0;
    if (RE2::PartialMatch(piece(text), load, &requests) && requests > 0.0) parallel_ = requests;
  } else if (!questions_) {
    questions_ = in_lower_case(name);
  }
  return true;
}

Observation ServingConsoleReader::run_of_questions(std::int64_t line, double length) {
  Observation run{.line = line,
                  .span = Span::run,
                  .gamma = drafts_of_server(length),
                  .requests = parallel_,
                  .concurrency = parallel_};
  run.stratum.category = std::exchange(questions_, std::nullopt);
  return run;
}

/// Counters of vLLM's old engine that were posted right above or below results, without a load of their own, are of
/// these. Returns whether there are any.
bool ServingConsoleReader::join_counters(LogContents& contents) const {
  constexpr std::int64_t near = 12;                            // lines
  std::map<std::int64_t, std::vector<std::int64_t>> counters;  // lines, by the last line of the run
  for (const Observation& one : contents.observations) {
    if (one.span != Span::window || !one.gamma || !one.acceptance || one.requests ||
        !one.acceptance->accepted_at.empty())
      continue;
    std::int64_t closest = near + 1, of = 0;
    for (const auto& [last, first] : runs_) {
      const std::int64_t away = one.line < first ? first - one.line : one.line - last;
      if (away > 0 && away < closest) closest = away, of = last;
    }
    if (of > 0) counters[of].push_back(one.line);
  }
  for (const auto& [last, lines] : counters) {
    const auto at = [&](std::int64_t line) {
      return std::ranges::find(contents.observations, line, &Observation::line);
    };
    for (const std::int64_t line : lines) {
      const Observation window = *at(line);
      Observation& run = *at(last);
      if (run.gamma.value_or(*window.gamma) != *window.gamma) continue;
      run.decoding = Decoding::speculative;
      run.acceptance_length = std::nullopt;
      AcceptanceCounts sum = *window.acceptance;  // since the line before
      if (run.gamma) {
        sum.steps += run.acceptance->steps;
        *sum.drafted_tokens += *run.acceptance->drafted_tokens;
        *sum.accepted_tokens += *run.acceptance->accepted_tokens;
      }
      run.gamma = window.gamma;
      run.acceptance = sum;
      run.times.draft_ms = window.times.draft_ms;
      run.times.verification_ms = window.times.verification_ms;
      run.times.iteration_ms = product(run.times.tpot_ms, tokens_per_step(sum));
      contents.observations.erase(at(line));
    }
  }
  return !counters.empty();
}

/// The engine of a client is that of its server only where nothing else in the log names one. Results of two clients
/// are of two engines, unless they name one.
void ServingConsoleReader::note_engine(const KeyValueBlock& block, LogContents& contents) {
  const std::string_view client = client_of(block);
  const std::string server(server_of(block).empty() ? client : server_of(block));
  if (!server_of(block).empty()) contents.engine = server;
  if (client.empty()) return;
  if (!client_.empty() && client_ != client && server_ != server) {
    reject({.line = block.line(),
            .text = fmt::format("results of {} after those of {}", server, server_),
            .why = "observations of two engines are not comparable",
            .suggestion = "split the log by engine"});
  }
  client_ = client;
  server_ = server;
}

/// Beside a plain run, those with several tokens a chunk speculate, unless counters or a command line say which do: the
/// client did not print acceptance before 2026.
void ServingConsoleReader::finish(LogContents& contents) {
  close(contents);
  if (contents.engine.empty()) contents.engine = client_;
  if (join_counters(contents)) return;
  const bool has_plain = std::ranges::any_of(contents.observations, [](const Observation& one) {
    return one.span == Span::run && one.decoding == Decoding::plain;
  });
  for (Observation& run : contents.observations) {
    const auto tokens = chunks_.find(run.line);
    if (!has_plain || tokens == chunks_.end() || undrafted_.contains(run.line) || run.decoding != Decoding::unknown ||
        !run.times.tpot_ms)
      continue;
    speculate_by_chunks(tokens->second, run, contents);
  }
}

void ServingConsoleReader::read(const KeyValueBlock& block, LogContents& contents) {
  if (block.has("Throughput") && (block.has("Num prompts") || block.has("Spec verify ct")))
    return read_prompts(block, contents);
  if (const auto tokens_per_s = block.real("Output throughput")) {
    const auto length = block.real("Accept length");
    return add_questions(run_of_questions(block.line(), length.value_or(1.0)), tokens_per_s, block.real("Latency"),
                         length, contents);
  }
  Observation run{.line = block.line(), .span = Span::run};
  set_acceptance(block, run, contents);
  if (run.decoding == Decoding::unknown) {
    const auto tokens = chunk_tokens(block, contents);
    run.decoding = undrafted(block, tokens, contents);
    if (tokens.value_or(0.0) > speculative_chunk) chunks_[run.line] = *tokens;
  }
  run.times = {.duration_s = block.real("Benchmark duration (s)"),
               .output_tokens_per_s = block.real("Output token throughput (tok/s)"),
               .iteration_ms = iteration_ms(block, run, contents),
               .tpot_ms = tpot_ms(block, contents),
               .ttft_ms = latency_ms(block, "TTFT", contents),
               .request_rate_per_s = request_rate(block),
               .served_requests_per_s = block.real("Request throughput (req/s)")};
  run.concurrency = block.real("Maximum request concurrency");
  if (!run.concurrency) run.concurrency = block.real("Max request concurrency");
  if (block.has("Benchmark duration (s)")) {
    const auto limit = std::exchange(limit_above_, std::nullopt);
    if (!run.concurrency) run.concurrency = limit ? limit : concurrency_;
    const auto rate = std::exchange(rate_above_, std::nullopt);
    if (!run.times.request_rate_per_s) run.times.request_rate_per_s = rate;
  } else if (block.has("Maximum request concurrency") || block.has("Traffic request rate")) {
    limit_above_ = run.concurrency;
    rate_above_ = run.times.request_rate_per_s;
  }
  run.completed_requests = block.count("Successful requests");
  run.failed_requests = block.count("Failed requests");
  // A limit would be printed before the duration: without one, all requests were sent at once.
  if (block.has("Benchmark duration (s)")) set_offer(std::nullopt, run);
  // Without the TPOT, the throughput is not that of decoding: the prompts are in its time.
  const bool limited = run.concurrency && run.times.tpot_ms && !run.times.request_rate_per_s;
  run.requests = limited ? run.concurrency : decoding_requests(run.times);
  // This mean includes requests that wait for their first token: no time per token follows from it.
  if (!run.requests && run.times.request_rate_per_s) run.requests = block.real("Concurrency");
  set_lengths(block, run.stratum);
  if (is_sglang_client(block) && run.acceptance_length) {
    run.gamma = drafts_of_server(*run.acceptance_length);
    run.tree = options_.tree();
  }
  const ObservedTimes& times = run.times;
  if (run.decoding == Decoding::unknown && !times.output_tokens_per_s && !times.tpot_ms) return;
  warn_of_arrival_rate(times.request_rate_per_s, times.served_requests_per_s, block.line(), contents);
  check_failures(run, contents);
  note_engine(block, contents);
  runs_[run.line] = title_ > 0 ? title_ : run.line;
  title_ = 0;
  if (drafts_ == false) undrafted_.insert(run.line);
  contents.observations.push_back(std::move(run));
}

}  // namespace

LineFormat serving_console_format() { return lines_of<ServingConsoleReader>(console_anchor); }

}  // namespace foredraft::logs
