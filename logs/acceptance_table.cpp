// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <memory>
#include <string>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"

/// Tables of acceptance length by draft length (YAML), as used by InferenceX: a model, thinking on and off, a line `3:
/// 2.88` for each number of speculative tokens. Comments above state data set, top-p and temperatures.
namespace foredraft::logs {
namespace {

constexpr std::string_view length_table_anchor =
    R"(^# dataset:|^# thinking_(?:on|off):|^[\w./-]+:[ \t]*\r?$|^[ \t]+thinking_(?:on|off):[ \t]*\r?$)"
    R"(|^[ \t]+\d+:[ \t]+\d+(?:\.\d+)?[ \t]*\r?$)";

class AcceptanceTableReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;
  void finish(LogContents& /*contents*/) override {}

 private:
  void note_comment(std::string_view text);
  bool read_entry(std::string_view text, std::int64_t number, LogContents& contents) const;

  Stratum stratum_ = {};  ///< of all entries: data set and top-p
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
    refuse({.line = number,
            .key = fmt::format("{}", *gamma),
            .text = fmt::format("acceptance length {}", *length),
            .why = fmt::format("must lie between 1 and {}", *gamma + 1)});
  }
  if (contents.settings.target && *contents.settings.target != model_) {
    refuse({.line = number,
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

}  // namespace

LogFormat acceptance_table_format() {
  return {.name = "acceptance-table",
          .summary = "acceptance length by K (YAML), with and without thinking, as in InferenceX",
          .engine = "",
          .gives = {"yes", "yes", "no", "no", "no"},
          .reads = LineFormat{.anchor = length_table_anchor,
                              .open = [] { return std::make_unique<AcceptanceTableReader>(); }}};
}

}  // namespace foredraft::logs
