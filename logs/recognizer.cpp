// SPDX-License-Identifier: Apache-2.0
#include "logs/recognizer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "core/documents.hpp"
#include "core/names.hpp"
#include "logs/arm_headings.hpp"
#include "logs/line_fields.hpp"
#include "logs/log_reader.hpp"
#include "logs/stated_run.hpp"

namespace foredraft::logs {

namespace {

constexpr std::string_view list_formats = "run `foredraft list formats`";

/// Those of `known`, all or the one called `format`. Throws InputError if there is none.
std::vector<const LogFormat*> chosen_formats(std::string_view source, std::string_view format,
                                             std::span<const LogFormat> known) {
  std::vector<const LogFormat*> chosen;
  std::vector<std::string> names;
  for (const LogFormat& one : known) {
    names.emplace_back(one.name);
    if (format.empty() || format == one.name) chosen.push_back(&one);
  }
  if (!chosen.empty() || format.empty()) return chosen;
  const std::string_view near = nearest(format, names);
  Findings(std::string(source))
      .fail({.key = "format",
             .text = fmt::format("\"{}\" is no known format", format),
             .suggestion = near.empty() ? std::string(list_formats) : fmt::format("did you mean {}?", near)});
}

}  // namespace

Recognizer::Recognizer(std::string source, std::string_view format, std::span<const LogFormat> known)
    : formats_(chosen_formats(source, format, known)),
      anchors_(anchors_of(formats_)),
      findings_(std::move(source)),
      tables_(formats_, findings_, captions_),
      values_(formats_, *anchors_, findings_, tables_) {
  for (const LogFormat* one : formats_) {
    if (const auto* const lines = std::get_if<LineFormat>(&one->reads))
      line_formats_.push_back({.format = one, .reader = lines->open(), .own = lines->own});
  }
}

LogContents Recognizer::finish(std::int64_t lines, Problem nothing) {
  LogContents& contents = findings_.contents;
  tables_.end();
  values_.finish();
  for (const Lines& of : line_formats_) {
    if (!of.found) continue;
    findings_.taken([&] {
      of.reader->finish(contents);
      return true;
    });
  }
  name_by_captions();
  launches_.name_runs(contents);
  captions_.name_above(contents);
  stated_acceptance_.take_lines(contents);
  stated_settings_.name_runs(contents);
  stated_settings_.name_loads(contents);
  stated_settings_.tell_threshold(contents);
  share_length(contents);
  stated_acceptance_.name_runs(contents);
  tell_rates(contents);
  tables_.keep_apart();
  keep_sections_apart(sections_, contents);
  keep_rows_apart(contents);
  tell_unused_rows(contents);
  contents.lines = lines;
  tables_.tell_unused();
  if (contents.format.empty() && findings_.problems.empty()) fail_without_format(std::move(nothing));
  findings_.problems.raise();
  std::stable_sort(contents.observations.begin(), contents.observations.end(),
                   [](const Observation& a, const Observation& b) { return a.line < b.line; });
  return std::move(contents);
}

void Recognizer::fail_without_format(Problem nothing) {
  values_.explain(nothing);
  if (nothing.text.empty()) {
    nothing.text = formats_.size() == 1 ? fmt::format("no line of the format {}", formats_.front()->name)
                                        : "no line of a known format";
  }
  const bool unknown = nothing.suggestion.empty() && nothing.why.empty() && formats_.size() > 1;
  if (nothing.suggestion.empty()) nothing.suggestion = list_formats;
  findings_.problems.add(std::move(nothing));
  if (unknown) throw UnknownFormat(findings_.problems.text());
}

/// Names runs; if no format recognized anything, those of lines that say too little beside others.
void Recognizer::name_by_captions() {
  LogContents& contents = findings_.contents;
  const bool alone = contents.format.empty() && contents.observations.empty() && findings_.problems.empty() &&
                     !tables_.has_unused() && values_.all_clear();
  for (const Lines& of : line_formats_) {
    if (alone && contents.observations.empty()) of.reader->finish_alone(contents);
    if (alone && contents.format.empty() && !contents.observations.empty()) findings_.note_format(*of.format);
  }
  captions_.name_runs(contents, alone);
  for (const ReadTable& table : tables_.read_tables()) ordered_.note(table.caption, table.first_line);
  ordered_.name_runs(tables_.read_tables(), contents);
}

bool Recognizer::again(std::string_view line, std::int64_t number) {
  findings_.line = number;
  if (last_lines_ == nullptr) return values_.again(line);
  const bool own = std::ranges::any_of(
      last_lines_->own, [&](std::string_view words) { return line.find(words) != std::string_view::npos; });
  return own && line.size() <= max_line_bytes && offer(*last_lines_, shown(line), {});
}

bool Recognizer::value(std::string_view text, std::int64_t number, std::string_view caption, std::string_view words) {
  last_lines_ = nullptr;
  if (!values_.value(text, number, words)) return false;
  captions_.note_reading();
  captions_.note(caption, number, true);
  return true;
}

bool Recognizer::row(std::string_view line, std::int64_t number) {
  return tables_.row(line, number, [&] { return this->line(line, number, {}); });
}

bool Recognizer::offer(Lines& lines, std::string_view line, std::string_view above) {
  const bool taken = findings_.claimed(
      *lines.format, [&] { return lines.reader->line_below(above, line, findings_.line, findings_.contents); });
  lines.found = lines.found || taken;
  return taken;
}

bool Recognizer::line(std::string_view line, std::int64_t number, std::string_view caption, std::string_view lead) {
  findings_.line = number;
  const std::vector<int> matching = anchors_->lines.in(line);
  const bool launches = !matching.empty() && static_cast<std::size_t>(matching.back()) == line_formats_.size();
  if (launches && launches_.read(line, caption, number)) captions_.end(number, true);
  const bool taken = std::any_of(matching.begin(), matching.end(), [&](int index) {
    if (static_cast<std::size_t>(index) == line_formats_.size()) {
      note_section(sections_, {.line = number, .words = std::string(line)});
      return false;
    }
    Lines& lines = line_formats_[static_cast<std::size_t>(index)];
    if (!offer(lines, line, lead.empty() ? caption : lead)) return false;
    last_lines_ = &lines;
    return true;
  });
  if (taken) captions_.note_reading();
  if (taken && !caption.empty() && lead != lead_) {  // else the caption may be a line of the run's console
    if (names_arm_above(caption, lead)) captions_.note(lead, number, true);
    lead_ = lead;
  }
  if (taken || (!matching.empty() && findings_.contents.format.empty())) {
    captions_.note(caption, number, taken);
    for (const std::string_view above : {lead, caption}) ordered_.note(above, number);
  }
  return taken;
}

}  // namespace foredraft::logs
