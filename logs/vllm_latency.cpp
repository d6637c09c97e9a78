// SPDX-License-Identifier: Apache-2.0
#include <re2/re2.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"

/// `vllm bench latency` (benchmark_latency.py): the time of one batch of random prompts, on the console and as JSON.
namespace foredraft::logs {
namespace {

/// The time of the whole batch: a token takes its share. If it is not known how many tokens each request has, the whole
/// stands for one, and only the ratio of two such times counts; then the load is not known either, so it is compared
/// with no time of a token.
void add_latency(double seconds, Observation run, LogContents& contents) {
  if (!(seconds > 0.0)) return;
  run.span = Span::run;
  const bool known = run.concurrency && run.stratum.output_tokens.value_or(0.0) >= 1.0;
  if (!known) run.concurrency = run.requests = std::nullopt;
  run.times.tpot_ms = 1000.0 * seconds / (known ? *run.stratum.output_tokens : 1.0);
  warn_once(contents, "W12", run.line,
            std::string(known ? "the times of tokens include their share of the prompt"
                              : "the times are of whole batches, prompts included: only their ratios count, not the "
                                "TPOT") +
                "; the prompts are random, and so is what is accepted");
  contents.observations.push_back(std::move(run));
}

// ---- The console: the options of the benchmark, then the mean and its percentiles.

class LatencyReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    const re2::StringPiece words = piece(text);
    static const RE2 options(R"(Namespace\(.*\bnum_iters_warmup=)"), command(R"(\bbench(?:mark)?[ _]latency\b)"),
        more(R"(^[ \t]*--(?:batch|input|output)-)");
    if (RE2::PartialMatch(words, options)) {
      run_ = run_of(words);
      return true;
    }
    const bool begins = RE2::PartialMatch(words, command);
    if (begins || RE2::PartialMatch(words, more)) note_command(words, begins);
    static const RE2 mean(R"((?:^|[ \]])Avg latency: ([0-9.]+) seconds)");
    double seconds = 0.0;
    if (!RE2::PartialMatch(words, mean, &seconds)) return false;
    Observation run = std::exchange(run_, std::nullopt).value_or(load_of_commands());
    run.line = number;
    read_some_ = true;
    add_latency(seconds, std::move(run), contents);
    return true;
  }

 private:
  /// A command line, or a further line of one.
  void note_command(const re2::StringPiece& words, bool begins) {
    constexpr std::size_t max_commands = 256;
    if (begins && std::exchange(read_some_, false)) commands_.clear();
    if (begins && commands_.size() < max_commands) commands_.emplace_back();
    if (!commands_.empty() && !read_some_) set_load(words, commands_.back());
  }

  /// What the command lines above say, unless they differ: then which is that of the next result is not known.
  [[nodiscard]] Observation load_of_commands() const {
    const auto differs = [&](const Observation& one) {
      return one.concurrency != commands_.front().concurrency || one.stratum != commands_.front().stratum;
    };
    return commands_.empty() || std::ranges::any_of(commands_, differs) ? Observation{} : commands_.front();
  }

  static void set_load(const re2::StringPiece& options, Observation& run) {
    static const RE2 batch(R"(\bbatch[-_]size[= \t]+(\d{1,6})\b)"), input(R"(\binput[-_]len[= \t]+(\d{1,7})\b)"),
        output(R"(\boutput[-_]len[= \t]+(\d{1,7})\b)");
    if (int requests = 0; RE2::PartialMatch(options, batch, &requests)) run.requests = run.concurrency = requests;
    double prompt = 0.0, tokens = 0.0;
    const bool states_prompt = RE2::PartialMatch(options, input, &prompt);
    if (RE2::PartialMatch(options, output, &tokens))
      set_lengths(states_prompt ? std::optional(prompt) : std::nullopt, tokens, run.stratum);
  }

  /// What the options say of the run. Without any of a drafter, which old versions lack, it may be either.
  static Observation run_of(const re2::StringPiece& options) {
    static const RE2 none(R"(\bspeculative_(?:config|model)=None\b)"),
        config(R"(\bspeculative_config=["'{]|\bspeculative_model=['"])"),
        length(R"(\bnum_speculative_tokens\\?["']?[:=] ?(\d{1,3})\b)"),
        method(R"(\bspeculative_config=.*?\\?["']method\\?["']: ?\\?["']([\w.-]+))");
    Observation run;
    set_load(options, run);
    if (RE2::PartialMatch(options, config)) {
      run.decoding = Decoding::speculative;
      if (int drafts = 0; RE2::PartialMatch(options, length, &drafts) && drafts <= max_positions) run.gamma = drafts;
      if (std::string name; RE2::PartialMatch(options, method, &name)) run.drafter = name;
    } else if (RE2::PartialMatch(options, none)) {
      run.decoding = Decoding::plain;
    }
    return run;
  }

  std::optional<Observation> run_ = {};     ///< that the options begin
  std::vector<Observation> commands_ = {};  ///< above the next results: only their loads
  bool read_some_ = false;                  ///< since the last command line
};

// ---- The same as JSON, without the options.

bool claims_latency(const JsonValue& value) { return has_keys(value, {"avg_latency", "latencies"}); }

void read_latency(const JsonFields& run, LogContents& contents) {
  add_latency(run.real("avg_latency").value_or(0.0), Observation{.line = run.line()}, contents);
}

}  // namespace

LineFormat vllm_latency_format() {
  return lines_of<LatencyReader>(
      R"(\bAvg latency: \d[\d.]* seconds|Namespace\([^\n]*\bnum_iters_warmup=|\bbench(?:mark)?[ _]latency\b)"
      R"(|^[ \t]*--(?:batch|input|output)-)");
}

JsonFormat vllm_latency_json_format() { return {"avg_latency", claims_latency, of_object<read_latency>}; }

}  // namespace foredraft::logs
