// SPDX-License-Identifier: Apache-2.0
#include <re2/re2.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "logs/formats.hpp"
#include "logs/headings.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/stated_run.hpp"

/// The summary of k6: metrics that a script defines for the answers of a model, and its virtual users.
namespace foredraft::logs {
namespace {

/// What the name of a metric means, as of a heading; also without the word of the script that begins it: "llm_ttft".
Column column_of_metric(std::string_view name) {
  Column column = column_of(name);
  const std::size_t word = name.find('_');
  if (column.meaning != Meaning::ignored || word == name.npos) return column;
  return column_of(name.substr(word + 1));
}

class K6Reader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    static const RE2 metric(R"(\s*(\w+)\.*: +(.*))"), trend(R"(avg=([0-9.]+)(ms|s|\xC2\xB5s|us)? .*)", RE2::Latin1),
        counter(R"(\d+ +([0-9.]+)/s.*)"), users(R"(\d+ +min=(\d+) +max=(\d+).*)");
    std::string name, values, unit;
    double value = 0.0, most = 0.0;
    if (!RE2::FullMatch(piece(text), metric, &name, &values)) return false;
    if (name == "vus" && RE2::FullMatch(values, users, &value, &most)) {
      // Users that come and go are no load of the whole run.
      if (value == most && value > 0.0) set(&StatedRun::concurrency, value, number, contents);
      return value == most;
    }
    const Column column = column_of_metric(name);
    const Meaning meaning = column.meaning;
    if (RE2::FullMatch(values, counter, &value)) {
      if (meaning != Meaning::output_tokens) return false;
      set(&StatedRun::output_tokens_per_s, value, number, contents);
      return true;
    }
    if (!RE2::FullMatch(values, trend, &value, &unit)) return false;
    // Of a number without a unit only the name may tell it: "tpot_ms".
    const double ms = unit == "s" ? 1000.0 : unit == "ms" ? 1.0 : unit.empty() ? column.unit : 0.001;
    const bool speed = meaning == Meaning::speed || meaning == Meaning::request_speed;
    if (speed && unit.empty()) {
      set(&StatedRun::request_tokens_per_s, value, number, contents);  // a value of each answer
    } else if (meaning == Meaning::tpot && ms > 0.0) {
      set(&StatedRun::tpot_ms, value * ms, number, contents);
    } else if (meaning == Meaning::ttft && ms > 0.0) {
      set(&StatedRun::ttft_ms, value * ms, number, contents);
    } else {
      return false;
    }
    return true;
  }

  void finish(LogContents& contents) override { close(contents); }

 private:
  void set(std::optional<double> StatedRun::*field, double value, std::int64_t number, LogContents& contents) {
    if (run_.*field) close(contents);
    if (run_.line == 0) run_.line = number;
    run_.*field = value;
  }

  void close(LogContents& contents) {
    const StatedRun run = std::exchange(run_, {});
    if (!run.tpot_ms && !run.request_tokens_per_s && !run.output_tokens_per_s) return;
    contents.observations.push_back(observation_of(run, Decoding::unknown, contents));
  }

  StatedRun run_ = {};
};

}  // namespace

LineFormat k6_format() { return lines_of<K6Reader>(R"(^[ \t]*\w+\.{2,}: +(?:avg=\d|\d+ +\d[\d.]*/s|\d+ +min=\d))"); }

}  // namespace foredraft::logs
