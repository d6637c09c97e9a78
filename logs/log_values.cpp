// SPDX-License-Identifier: Apache-2.0
#include "logs/log_values.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "logs/arm_headings.hpp"
#include "logs/arms.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"
#include "logs/wrapped_lines.hpp"

namespace foredraft::logs {
namespace {

/// Limits for records of users' own scripts: levels of nesting, values offered per document, and the number of other
/// values after which the search ends.
constexpr std::size_t max_record_depth = 4;
constexpr std::size_t max_offers = 100'000;
constexpr std::size_t max_other_records = 10'000;

/// The members of an object that are runs by their keys, "baseline" and "mtp_k3"; empty unless both arms are there.
std::vector<const JsonValue*> runs_by_key(const JsonValue& value) {
  std::vector<const JsonValue*> runs;
  if (!value.is_object()) return runs;
  for (const JsonValue& member : value)
    if (member.is_object() && is_arm(member.key())) runs.push_back(&member);
  const auto plain = std::ranges::count_if(runs, [](const JsonValue* run) { return arm_named(run->key()).plain; });
  if (plain == 0 || plain == std::ssize(runs)) runs.clear();
  return runs;
}

/// Gives the arm of their key to runs of which nothing else says whether they speculate.
void name_by_key(const std::string& key, std::span<Observation> runs) {
  const Arm arm = arm_named(key);
  for (Observation& run : runs) {
    if (run.decoding == Decoding::unknown) run.decoding = arm.plain ? Decoding::plain : Decoding::speculative;
    if (run.decoding == Decoding::speculative && !arm.plain) note_arm(run, arm);
  }
}

}  // namespace

LogValues::LogValues(std::span<const LogFormat* const> formats, const Anchors& anchors, Findings& findings,
                     LogTables& tables)
    : anchors_(anchors), findings_(findings), tables_(tables) {
  for (const LogFormat* one : formats)
    if (std::holds_alternative<JsonFormat>(one->reads)) formats_.push_back(one);
}

bool LogValues::again(std::string_view text) {
  if (last_ == nullptr || !text.starts_with('{') || !document_.read(text)) return false;
  const bool rest = text.find_first_not_of(" \t\r", document_.size()) != std::string_view::npos;
  if (rest || document_.shape() != last_shape_) return false;
  return read_value(*last_, document_.value());
}

/// Keeps the objects of a value whose keys are headings of a table.
void LogValues::keep_records(const JsonValue& value, std::int64_t line, const std::string& name) {
  const std::size_t before = records_.size();
  for (JsonRecord& record : records_in(value, line, max_table_rows - before, name)) {
    if (tables_.claims(record.headings)) records_.push_back(std::move(record));
  }
  if (records_.size() == before) ++other_records_;
}

bool LogValues::value(std::string_view text, std::int64_t number, std::string_view words) {
  findings_.line = number;
  last_ = nullptr;
  const std::vector<int> matching = anchors_.values.in(text);
  const bool records =
      anchors_.records && other_records_ < max_other_records && RE2::PartialMatch(piece(text), *anchors_.records);
  if (matching.empty() && !records) return false;
  if (!document_.read(text)) {
    broken_line_ = number + std::ranges::count(text.substr(0, document_.size()), '\n');
    return false;
  }
  counted_to_ = text.data();
  offers_left_ = max_offers;
  const std::string_view label = words.substr(0, words.rfind(':'));
  const std::string name(is_arm(label) ? trimmed(label) : "");
  const std::size_t before = findings_.contents.observations.size();
  if (offer_value(document_.value(), matching, 0)) {
    if (!name.empty() && before <= findings_.contents.observations.size())  // else neighbors were pooled
      name_by_key(name, std::span(findings_.contents.observations).subspan(before));
    return true;
  }
  findings_.line = number;
  keep_records(document_.value(), number, name);
  note_resembled(text, matching);
  return false;
}

/// The first format that claims the value; null: none does.
const LogFormat* LogValues::claimant(const JsonValue& value, std::span<const int> matching, std::size_t depth) const {
  const bool within = depth > 0 && !(depth == 1 && document_.value().is_array());
  for (const int index : matching) {
    const LogFormat& format = *formats_[static_cast<std::size_t>(index)];
    const auto& json = std::get<JsonFormat>(format.reads);
    if ((json.within || !within) && json.claims(value)) return &format;
  }
  return nullptr;
}

/// Offers the value, else its members, such as the runs in a user's own file; not those of which only some have a
/// format. Returns whether anything was read.
bool LogValues::offer_value(const JsonValue& value, std::span<const int> matching, std::size_t depth) {
  if (offers_left_ == 0) return false;
  --offers_left_;
  findings_.line += std::count(counted_to_, value.source().data(), '\n');
  counted_to_ = value.source().data();
  if (const LogFormat* const format = claimant(value, matching, depth)) {
    last_shape_ = document_.shape();
    read_value(*format, value);
    if (depth == 0) last_ = format;
    return true;
  }
  if (depth == max_record_depth) return false;
  const std::vector<const JsonValue*> named = runs_by_key(value);
  const auto lacks_format = [&](const JsonValue* run) { return claimant(*run, matching, depth + 1) == nullptr; };
  if (std::ranges::any_of(named, lacks_format)) return false;
  bool read = false;
  for (const JsonValue& part : value) {
    if (!part.is_structured()) continue;
    const std::size_t before = findings_.contents.observations.size();
    read = offer_value(part, matching, depth + 1) || read;
    const bool has_arm = std::ranges::find(named, &part) != named.end();
    if (has_arm && before <= findings_.contents.observations.size())  // else neighbors were pooled
      name_by_key(part.key(), std::span(findings_.contents.observations).subspan(before));
  }
  return read;
}

std::optional<std::string> LogValues::texts(std::string_view text) {
  if (!document_.read(text)) return std::nullopt;
  for (std::string& texts : wrapped_texts(document_.value())) {
    std::size_t of_formats = 0;
    for (std::string_view rest = texts; !rest.empty() && of_formats < 2;) {
      const std::size_t end = std::min(rest.find('\n') + 1, rest.size());
      if (!anchors_.lines.in(rest.substr(0, end)).empty()) ++of_formats;
      rest.remove_prefix(end);
    }
    if (of_formats == 2) return std::move(texts);
  }
  return std::nullopt;
}

bool LogValues::cut(std::string_view text, std::int64_t number) {
  // One line after others is left out: its program may still have been writing it.
  if (!findings_.contents.format.empty() && text.find('\n') == std::string_view::npos) return false;
  const std::optional<std::string> whole = completed(text);
  if (!whole) return false;
  LogContents before = findings_.contents;
  findings_.on_trial = true;
  bool read = false;
  try {
    read = value(*whole, number);
    finish_formats();
  } catch (const RejectedRecord&) {
    findings_.restore(std::move(before));
  }
  findings_.on_trial = false;
  return read;
}

/// Notes the first format that shares a key with the value.
void LogValues::note_resembled(std::string_view text, std::span<const int> matching) {
  if (resembled_ != nullptr) return;
  for (const int index : matching) {
    const LogFormat& format = *formats_[static_cast<std::size_t>(index)];
    const RE2 key(fmt::format("[\"'](?:{})[\"']", std::get<JsonFormat>(format.reads).anchor), byte_options());
    if (!RE2::PartialMatch(piece(text), key)) continue;
    resembled_ = &format;
    resembled_line_ = findings_.line;
    return;
  }
}

bool LogValues::read_value(const LogFormat& format, const JsonValue& value) {
  return findings_.claimed(format, [&] {
    const auto& json = std::get<JsonFormat>(format.reads);
    if (json.finish) unfinished_.insert(&format);
    json.read(value, findings_.line, findings_.contents);
    return true;
  });
}

void LogValues::finish_formats() {
  for (const LogFormat* format : std::exchange(unfinished_, {})) {
    findings_.taken([&] {
      std::get<JsonFormat>(format->reads).finish(findings_.contents);
      return true;
    });
  }
}

void LogValues::finish() {
  finish_formats();
  if (findings_.contents.observations.empty() && !records_.empty()) tables_.read(std::exchange(records_, {}));
}

void LogValues::explain(Problem& nothing) const {
  nothing.line = resembled_line_;
  if (broken_line_ > 0) nothing.why = fmt::format("its JSON breaks at line {}", broken_line_);
  if (resembled_ != nullptr)
    nothing.why = fmt::format("looks like {}, but has too few of its keys to be sure", resembled_->name);
}

}  // namespace foredraft::logs
