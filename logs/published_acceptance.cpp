// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/expectations.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"
#include "logs/sglang_options.hpp"
#include "logs/stated_run.hpp"

/// Published tables and recordings of acceptance, and SpecForge's results.
namespace foredraft::logs {

// ---- Tables of acceptance length by draft length (YAML), as used by InferenceX: a model, thinking on and off, a line
// `3: 2.88` for each number of speculative tokens. Comments above state data set, top-p and temperatures.

namespace {

constexpr std::string_view length_table_anchor =
    R"(^# dataset:|^# thinking_(?:on|off):|^[\w./-]+:[ \t]*\r?$|^[ \t]+thinking_(?:on|off):[ \t]*\r?$)"
    R"(|^[ \t]+\d+:[ \t]+\d+(?:\.\d+)?[ \t]*\r?$)";

class AcceptanceTableReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;

 private:
  void note_comment(std::string_view text);
  bool read_entry(std::string_view text, std::int64_t number, LogContents& contents) const;

  Stratum stratum_ = {};  ///< data set and top-p of all entries
  std::optional<double> temperature_on_ = {}, temperature_off_ = {};
  std::string model_ = {};
  std::optional<bool> thinking_ = {};  ///< of the following entries
};

void AcceptanceTableReader::note_comment(std::string_view text) {
  if (text.find("dataset:") != std::string_view::npos) {
    if (const auto set = text_after(text, "dataset: ", " |")) stratum_.category = std::string(trimmed(*set));
    stratum_.top_p = number_after(text, "top_p: ");
  } else {
    const bool on = text.find("thinking_on:") != std::string_view::npos;
    (on ? temperature_on_ : temperature_off_) = number_after(text, "temperature=");
  }
}

bool AcceptanceTableReader::line(std::string_view text, std::int64_t number, LogContents& contents) {
  if (text.starts_with('#')) {
    note_comment(text);
    return false;
  }
  const std::string_view key = trimmed(text.substr(0, text.find(':')));
  if (!text.starts_with(' ') && !text.starts_with('\t')) {
    model_ = key;
    thinking_ = std::nullopt;
    return false;
  }
  if (key == "thinking_on" || key == "thinking_off") {
    thinking_ = key == "thinking_on";
    return false;
  }
  return thinking_ && !model_.empty() && read_entry(text, number, contents);
}

bool AcceptanceTableReader::read_entry(std::string_view text, std::int64_t number, LogContents& contents) const {
  const std::optional<KeyValue> entry = key_value(text);
  if (!entry) return false;
  std::string_view key = entry->key;
  std::string_view value = entry->value;
  const auto gamma = whole(take_number(key));
  const auto length = take_number(value);
  if (!gamma || *gamma == 0 || !length) return false;
  if (!(*length >= 1.0 && *length <= static_cast<double>(*gamma) + 1.0)) {
    reject({.line = number,
            .key = fmt::format("{}", *gamma),
            .text = fmt::format("acceptance length {}", *length),
            .why = fmt::format("must lie between 1 and {}", *gamma + 1)});
  }
  if (contents.settings.target && *contents.settings.target != model_) {
    reject({.line = number,
            .key = model_,
            .text = fmt::format("a second model, after {}", *contents.settings.target),
            .why = "acceptance of two models is not comparable",
            .suggestion = "split the file by model"});
  }
  contents.settings.target = model_;
  Observation run{.line = number, .span = Span::run, .decoding = Decoding::speculative, .gamma = gamma};
  run.acceptance_length = length;
  run.stratum = stratum_;
  run.stratum.reasoning = thinking_;
  run.stratum.temperature = *thinking_ ? temperature_on_ : temperature_off_;
  contents.observations.push_back(std::move(run));
  return true;
}

// ---- Recorded acceptance by text position: for each output token of a request the number of tokens that a step
// beginning there would emit, with the bonus token. One list, or one for each drafter (`acc_eagle`, `acc_ngram`).

bool has_list(const JsonValue& value) { return has_keys(value, {"acc_len"}) && value.at("acc_len").is_array(); }

bool claims_acceptance_traces(const JsonValue& value) {
  if (!value.is_object()) return false;
  if (has_list(value)) return true;
  return std::ranges::any_of(value,
                             [](const JsonValue& entry) { return entry.key().starts_with("acc_") && has_list(entry); });
}

void read_trace(const JsonFields& drafter, const std::optional<std::string>& request,
                const std::optional<std::string>& name, LogContents& contents) {
  Observation observation{.line = drafter.line(), .span = Span::request, .decoding = Decoding::speculative};
  for (const std::int64_t emitted : drafter.counts("acc_len")) {
    if (emitted > max_positions) {
      drafter.reject("acc_len", std::to_string(emitted), fmt::format("must be at most {} tokens", max_positions));
    }
    observation.trace.by_position.push_back(static_cast<std::int32_t>(emitted > 0 ? emitted - 1 : 0));
  }
  observation.stratum.request = request;
  observation.stratum.category = name;
  observation.stratum.output_tokens = static_cast<double>(observation.trace.by_position.size());
  contents.observations.push_back(std::move(observation));
}

void read_acceptance_traces(const JsonFields& record, LogContents& contents) {
  const auto request = record.text("id");
  if (has_list(record.json())) read_trace(record, request, std::nullopt, contents);
  for (const JsonValue& entry : record.json()) {
    const std::string key = entry.key();
    if (key.starts_with("acc_") && has_list(entry)) read_trace(record.member(entry), request, key.substr(4), contents);
  }
}

// ---- SpecForge: the dashboard's JSON of all models and sets, and the output of bench_eagle3 for one draft model. Each
// has batch size, depth, tree and acceptance length; rows without speculation have depth 0 or a name that says so.

bool begins_with_setting(const JsonValue& list) {
  constexpr std::array<const char*, 4> keys{"batch_size", "steps", "topk", "num_draft_tokens"};
  return list.is_array() && !list.empty() && has_keys(list.front(), {"metrics"}) && keys_of(list.front(), keys) > 0;
}

bool is_dashboard_model(const JsonValue& sets) {
  return sets.is_object() && !sets.empty() && has_keys(sets.front(), {"results"}) &&
         begins_with_setting(sets.front().at("results"));
}

bool is_eagle3_run(const JsonValue& value) {
  return value.is_object() && std::any_of(value.begin(), value.end(), begins_with_setting);
}

/// The results of a setting, if the rest of its file was cut off.
bool is_specforge_metric(const JsonValue& value) {
  return has_keys(value, {"accept_length", "output_throughput", "num_questions"});
}

/// A line of bench_model_speedup: its setting and results.
bool is_specforge_line(const JsonValue& value) {
  return has_keys(value, {"batch_size", "steps", "topk", "num_draft_tokens", "throughput"});
}

/// A line of SGLang's bench_speculative.py: its setting, and the time of a step.
bool is_speculative_line(const JsonValue& value) {
  return has_keys(value, {"batch_size", "steps", "topk", "num_draft_tokens", "acc_length", "step_time"});
}

/// The tree of a setting; nullopt for a chain. A tree drafts more tokens than its depth: neither is a draft length.
std::optional<DraftTree> tree_of_setting(const JsonFields& setting) {
  return tree_of_sizes(setting.count("steps"), setting.count("topk"), setting.count("num_draft_tokens"));
}

/// Speeds are those of each request of the batch.
void read_speculative_line(const JsonFields& line, LogContents& contents) {
  const auto steps = line.count("steps");
  StatedRun run{.line = line.line(), .concurrency = line.real("batch_size")};
  if (const auto seconds = line.real("step_time")) run.iteration_ms = 1000.0 * *seconds;
  run.request_tokens_per_s = line.real("speed");
  run.output_tokens = line.real("completion_tokens");
  if (steps == 0) run.tpot_ms = std::exchange(run.iteration_ms, std::nullopt);
  if (steps != 0) run.length = line.length("acc_length");
  const bool chain = line.count("topk").value_or(1) <= 1;
  if (steps != 0 && chain && steps) run.gamma = static_cast<double>(*steps);
  Observation observation = observation_of(run, steps == 0 ? Decoding::plain : Decoding::speculative, contents);
  observation.tree = tree_of_setting(line);
  contents.observations.push_back(std::move(observation));
}

bool claims_specforge(const JsonValue& value) {
  if (!value.is_object() || value.empty()) return false;
  return is_dashboard_model(value.front()) || is_eagle3_run(value) || is_specforge_metric(value) ||
         is_specforge_line(value) || is_speculative_line(value);
}

/// "Wihtout EAGLE3" is the spelling in the files.
bool names_plain(const std::string& name) { return name.starts_with("Wihtout") || name.starts_with("Without"); }

/// The dashboard repeats its run without speculation for every setting of a set: near the last one.
bool is_repeated(const LogContents& contents, const Observation& plain) {
  constexpr std::size_t near = 1024;
  const std::size_t size = contents.observations.size();
  return std::ranges::any_of(
      std::span(contents.observations).last(std::min(near, size)), [&](const Observation& other) {
        return other.decoding == Decoding::plain && other.stratum == plain.stratum &&
               other.requests == plain.requests && other.times.output_tokens_per_s == plain.times.output_tokens_per_s;
      });
}

void read_specforge_metric(const JsonFields& setting, const JsonFields& metric, const std::string& category,
                           LogContents& contents) {
  const auto steps = setting.count("steps");
  const std::string name = metric.text("Name").value_or("");
  const bool plain = names_plain(name) || steps == 0;
  const bool line = is_specforge_line(metric.json());
  const char* const key = metric.has("acc_length") ? "acc_length" : "accept_length";
  const auto length = plain ? metric.real(key) : metric.length(key);
  Observation observation{.line = metric.line(), .span = Span::run, .requests = setting.real("batch_size")};
  if (plain) observation.decoding = Decoding::plain;
  if (!plain && (steps || !name.empty() || length.value_or(1.0) > 1.0)) observation.decoding = Decoding::speculative;
  observation.times.output_tokens_per_s = metric.real(line ? "throughput" : "output_throughput");
  observation.times.duration_s = metric.real(line ? "duration" : "latency");
  if (!category.empty()) observation.stratum.category = category;
  if (plain) {
    if (!is_repeated(contents, observation)) contents.observations.push_back(std::move(observation));
    return;
  }
  if (setting.count("topk") == 1) observation.gamma = steps;
  observation.tree = tree_of_setting(setting);
  observation.acceptance_length = length;
  if (!name.empty()) note(contents.settings.draft, std::optional(name));
  contents.observations.push_back(std::move(observation));
}

void read_specforge_setting(const JsonFields& setting, const std::string& category, LogContents& contents) {
  for (const JsonFields& metric : setting.objects("metrics")) {
    read_specforge_metric(setting, metric, category, contents);
  }
}

void read_specforge(const JsonFields& file, LogContents& contents) {
  if (is_specforge_metric(file.json())) {
    if (contents.observations.empty()) return read_specforge_metric(file, file, "", contents);
    return warn_once(contents, "W18", file.line(), "ignored results whose set and batch size are cut off");
  }
  if (is_specforge_line(file.json())) {
    warn_once(contents, "W02", file.line(), "the acceptance length is that since the start of the server");
    return read_specforge_metric(file, file, file.text("benchmark").value_or(""), contents);
  }
  if (is_speculative_line(file.json())) return read_speculative_line(file, contents);
  if (is_eagle3_run(file.json())) {
    note(contents.settings.draft, file.text("model"));
    for (const JsonValue& set : file.json()) {
      if (!set.is_array()) continue;
      for (const JsonFields& setting : file.objects_of(set)) read_specforge_setting(setting, set.key(), contents);
    }
    return;
  }
  const bool several = file.json().size() > 1;
  for (const JsonValue& model : file.json()) {
    const JsonFields sets = file.member(model);
    if (!several) note(contents.settings.target, std::optional(model.key()));
    for (const JsonValue& set : sets.json()) {
      // Several models are kept apart as kinds of prompts.
      const std::string category = several ? model.key() + " " + set.key() : set.key();
      for (const JsonFields& setting : sets.member(set).objects("results")) {
        read_specforge_setting(setting, category, contents);
      }
    }
  }
}

// ---- Rates by position alone, as analyses of a server's log print them: those of all drafts, or conditional ones,
// each of the drafts whose token before was accepted.

constexpr std::string_view rates_anchor =
    R"((?i)^[^\n\[{|]*accept[^\n\[{|]*[:=][ \t]*[\[(]?[ \t]*[01]?\.?\d|^[ \t]*\[[ \t]*[01]?\.\d[^\n{}\[]*\][ \t]*\r?$)"
    R"(|^[ \t*-]*(?:(?:total|num(?:ber of)?)[ _])?(?:draft(?:ed)?[ _]tokens|drafts)[ \t]*[:=][ \t]*\d)";

/// Only of a text in which nothing else is measured.
class PositionRatesReader final : public LineReader {
 public:
  bool line(std::string_view /*text*/, std::int64_t /*number*/, LogContents& /*contents*/) override { return false; }
  bool line_below(std::string_view above, std::string_view text, std::int64_t number, LogContents& contents) override;
  void finish_alone(LogContents& contents) override;

 private:
  std::vector<double> of_all_ = {}, conditional_ = {};
  std::int64_t line_ = 0, drafted_tokens_ = 0, drafts_ = 0;
  std::optional<double> mean_ = {};  ///< a rate of all positions
  bool several_ = false;             ///< results of several runs
};

/// Numbers of a list, separated by anything: "[0.7 0.5]", "70 % / 50 %"; empty unless all are rates.
std::vector<double> rates_in_list(std::string_view list) {
  constexpr double percent = 100.0;
  static const RE2 number(R"((\d*\.?\d+) ?(%?))");
  std::vector<double> rates;
  re2::StringPiece rest = piece(list);
  for (std::string digits, unit; RE2::FindAndConsume(&rest, number, &digits, &unit);) {
    std::string_view text = digits;
    rates.push_back(take_number(text).value_or(-1.0) / (unit.empty() ? 1.0 : percent));
  }
  const bool all = std::ranges::all_of(rates, [](double rate) { return rate >= 0.0 && rate <= 1.0; });
  return all ? rates : std::vector<double>{};
}

bool PositionRatesReader::line_below(std::string_view above, std::string_view text, std::int64_t number,
                                     LogContents& /*contents*/) {
  static const RE2 total(
      R"((?i)[ \t*-]*(?:(?:total|num(?:ber of)?)[ _])?(?:draft(?:ed)?[ _](tokens)|drafts)[ \t]*[:=][ \t]*([\d,]+)\s*)");
  static const RE2 list(R"(([^\[:=]*)[:=]?[ \t]*([\[(]?(?:[ \t,;/|]*\d*\.?\d+(?: ?%)?)+[ \t]*[\])]?)[ \t]*\r?)");
  static const RE2 label(R"((?i)[^.;]*\baccept(?:ance|ed)?\b[^.;]*)"), given("(?i).*\\bcondition.*");
  static const RE2 position_words(R"((?i).*\b(?:positions?|pos|condition\w*|cumulative|token index)\b.*)");
  std::string tokens, words, numbers;
  if (RE2::FullMatch(piece(text), total, &tokens, &numbers)) {
    std::string_view digits = numbers;
    const auto count = whole(take_number(digits)).value_or(0);
    std::int64_t& counted = tokens.empty() ? drafts_ : drafted_tokens_;
    several_ = several_ || (counted != 0 && counted != count);
    counted = count;
    return false;
  }
  if (!RE2::FullMatch(piece(text), list, &words, &numbers)) return false;
  if (trimmed(words).empty()) words = above;
  std::ranges::replace_if(
      words, [](char c) { return c == '_' || c == '-'; }, ' ');
  const std::vector<double> rates = rates_in_list(numbers);
  const bool labeled = RE2::FullMatch(words, label) && !names_expected(words);
  if (rates.empty() || !labeled) return false;
  if (rates.size() == 1 && numbers.front() != '[') {
    mean_ = rates.front();
    return false;
  }
  if (!RE2::FullMatch(words, position_words)) return false;
  std::vector<double>& kept = RE2::FullMatch(words, given) ? conditional_ : of_all_;
  several_ = several_ || (!kept.empty() && kept != rates);
  kept = rates;
  if (line_ == 0) line_ = number;
  return false;
}

void PositionRatesReader::finish_alone(LogContents& contents) {
  constexpr double rounded = 0.006;  // of rates with two digits
  std::vector<double> rates = conditional_;
  for (std::size_t i = 1; i < rates.size(); ++i) rates[i] *= rates[i - 1];
  if (!of_all_.empty() && !conditional_.empty()) {
    const auto agree = [&](double one, double other) { return std::abs(one - other) <= rounded; };
    if (!std::ranges::equal(of_all_, rates, agree)) return;  // what they are of is not known
  }
  if (!of_all_.empty()) rates = of_all_;
  const auto rises = [&](double before, double after) { return after > before + rounded; };
  if (rates.empty() || several_ || std::ranges::adjacent_find(rates, rises) != rates.end()) return;
  Observation run{.line = line_, .span = Span::run, .decoding = Decoding::speculative};
  run.gamma = static_cast<std::int64_t>(rates.size());
  run.acceptance_length = std::accumulate(rates.begin(), rates.end(), 1.0);
  const double mean = (*run.acceptance_length - 1.0) / static_cast<double>(rates.size());
  if (mean_ && std::abs(mean - *mean_) > rounded) return;  // of other drafts, or a part was cut off
  const bool whole_drafts = drafts_ == 0 ? drafted_tokens_ % *run.gamma == 0
                                         : drafted_tokens_ == 0 || drafted_tokens_ == drafts_ * *run.gamma;
  AcceptanceCounts counts{.steps = drafts_ == 0 ? drafted_tokens_ / *run.gamma : drafts_};
  if (counts.steps > 0 && whole_drafts) {
    counts.drafted_tokens = counts.steps * *run.gamma;
    set_positions(counts, rates, run.gamma, std::nullopt, line_);
    counts.accepted_tokens = sum_of_counts(counts.accepted_at, "accepted", line_);
    run.acceptance_length.reset();
    run.acceptance = std::move(counts);
  } else if (counts.steps > 0) {
    run.adaptive = true;  // some drafts are shorter
  }
  contents.observations.push_back(std::move(run));
  contents.warnings.push_back(
      {.code = "W22",
       .line = line_,
       .message = fmt::format("rates by position read as: {}",
                              of_all_.empty() ? "each of the drafts accepted before it" : "each of all drafts")});
}

}  // namespace

LineFormat acceptance_table_format() { return lines_of<AcceptanceTableReader>(length_table_anchor); }

LineFormat position_rates_format() { return lines_of<PositionRatesReader>(rates_anchor); }

JsonFormat acceptance_traces_format() {
  return {"acc_len", claims_acceptance_traces, of_object<read_acceptance_traces>};
}

JsonFormat specforge_format() {
  return {"num_draft_tokens|batch_size|topk|num_questions", claims_specforge, of_object<read_specforge>};
}

}  // namespace foredraft::logs
