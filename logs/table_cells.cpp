// SPDX-License-Identifier: Apache-2.0
#include "logs/table_cells.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "logs/arms.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"

namespace foredraft::logs {
namespace {

/// The multiplication sign.
constexpr std::string_view times_sign = "\xC3\x97";

/// "31,2" and "1.234,5" with a decimal point; unchanged if its commas may separate thousands.
std::string with_decimal_point(std::string text) {
  static const RE2 comma(R"((?:(?:\d{1,3}(?:\.\d{3})+|\d+),(?:\d{1,2}|\d{4,})|0,\d+)(?:[^\d,.].*)?)");
  if (!RE2::FullMatch(text, comma)) return text;
  const std::size_t at = text.find(',');
  std::string whole = text.substr(0, at);
  std::erase(whole, '.');
  return whole + "." + text.substr(at + 1);
}

}  // namespace

std::string bare_cell(std::string_view cell) {
  std::string text;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const char c = cell[i];
    if (c == '~' && i > 0 && i + 1 < cell.size() && is_digit(cell[i - 1]) && is_digit(cell[i + 1])) text += '-';
    if (c != '*' && c != '`' && c != '~') text += c;
  }
  const bool numbered = text.size() > 3 && is_digit(text[0]) && text[1] == '.' && text[2] == ' ' && !is_digit(text[3]);
  if (numbered) text.erase(0, 3);                     // "1. no drafts"
  constexpr std::string_view about = "\xE2\x89\x88";  // almost equal
  if (text.starts_with(about)) text.erase(0, about.size());
  return std::string(trimmed(text));
}

std::string heading_of_query(std::string heading) {
  static const RE2 metric(R"(\b(?:vllm|sglang|lmdeploy|llamacpp):\w)");
  static const RE2 per_second(R"(\bi?rate\()");
  static const RE2 dropped(  // labels, ranges, sums and means over series and times; the engine, the kind of a counter
      R"(\{[^{}]*\}|\[[^\]]*\]|\b(?:by|without|on|ignoring) ?\([^()]*\)|\b(?:sum|avg|i?rate|increase|(?:sum|avg)_over_time)\b)"
      R"(|\b(?:vllm|sglang|lmdeploy|llamacpp):|_total\b|[() ])");
  struct Query {
    RE2 pattern;
    std::string_view heading;
  };
  static const std::array<Query, 6> queries{
      {{RE2(R"(1(?:\.0)?\+spec_decode_num_accepted_tokens/spec_decode_num_drafts)"
            R"(|spec_decode_num_accepted_tokens/spec_decode_num_drafts\+1)"),
        "acceptance length"},
       {RE2("spec_decode_num_accepted_tokens/spec_decode_num_drafts"), "accepted tokens per step"},
       {RE2(R"((?:100\*)?spec_decode_num_accepted_tokens/spec_decode_num_draft_tokens(?:\*100)?)"), "acceptance rate"},
       {RE2("spec_decode_num_draft_tokens/spec_decode_num_drafts"), "K"},
       {RE2("num_requests_running"), "running requests"},
       {RE2("inter_token_latency_seconds_sum/inter_token_latency_seconds_count"), "ITL (s)"}}};
  if (!RE2::PartialMatch(heading, metric)) return heading;
  std::string text = heading;
  RE2::GlobalReplace(&text, dropped, "");
  if (text == "generation_tokens" && RE2::PartialMatch(heading, per_second)) return "total tok/s";
  const auto is = [&](const Query& one) { return RE2::FullMatch(text, one.pattern); };
  const auto* const query = std::ranges::find_if(queries, is);
  return query == queries.end() ? heading : std::string(query->heading);
}

std::string with_few_brackets(std::string heading) {
  static const RE2 inner(R"(\(([^()]*)\(([^()]*)\)([^()]*)\))");
  static const RE2 length(R"((?i)((?:spec|draft|)" + std::string(names_of_drafters) +
                          R"()[-\w]* ?)\(((?:k ?= ?)?\d{1,2})\)( *[^ ]))");
  if (heading.find('(') == std::string::npos) return heading;
  RE2::GlobalReplace(&heading, inner, R"((\1\2\3))");
  RE2::GlobalReplace(&heading, length, R"(\1\2\3)");
  return heading;
}

std::optional<double> take_measure(std::string_view& text) {
  const auto number = take_number(text);
  return number && *number >= 0.0 && std::isfinite(*number) ? number : std::nullopt;
}

CellNumber number_of_cell(std::string_view cell) {
  const std::string text = with_decimal_point(bare_cell(cell));
  if (text.find("->") != std::string::npos || text.find("\xE2\x86\x92") != std::string::npos) return {};
  static const RE2 formula(R"([\d.]+ ?(?:\+|\.\.| to ) ?(?:[A-Za-z_(]|\xCE|\xE2\x88).*)",
                           RE2::Latin1);  // "1 + rate * K", "1..K+1"
  if (RE2::FullMatch(text, formula)) return {};
  std::string_view rest = text;
  for (const std::string_view before : {times_sign, std::string_view("c")}) {  // "x8", "c8" requests
    if (rest.starts_with(before)) rest.remove_prefix(before.size());
  }
  CellNumber number{.value = take_measure(rest)};
  if (!number.value) return {};
  if (rest.starts_with('k') || rest.starts_with('K')) *number.value *= 1000.0;
  rest = trimmed(rest);
  number.percent = rest.starts_with('%');
  static const RE2 times("[xX].*|\xC3\x97.*");
  const bool whole = *number.value == std::floor(*number.value) && text.find('.') == text.npos;  // "8x" requests
  number.gain = number.percent || (!whole && RE2::FullMatch(piece(rest), times));
  if (rest == "ms") number.unit = 1.0;
  if (rest == "s") number.unit = 1000.0;
  return number;
}

namespace {

/// Takes the ends of a range and its "%".
bool take_range(const std::string& cell, double& low, double& high, std::string& percent) {
  static const RE2 range("([\\d.]+)%? ?(?:-|\xE2\x80\x93| to ) ?([\\d.]+) ?(%?)(?:\\D.*)?");
  return RE2::FullMatch(cell, range, &low, &high, &percent) && low < high;
}

}  // namespace

bool is_range(std::string_view cell) {
  double low = 0.0, high = 0.0;
  std::string percent;
  return take_range(bare_cell(cell), low, high, percent);
}

CellNumber measure_in(std::string_view cell) {
  CellNumber number = number_of_cell(cell);
  static const RE2 runs(R"([\d.]+(?: ?/ ?[\d.]+){2,}|\d+\.\d+(?:, \d+\.\d+)+(?: ?t\w*/s)?)");
  const std::string text = bare_cell(cell);
  double low = 0.0, high = 0.0;
  std::string percent;
  constexpr double repeated = 1.5;  // values that differ more are of several loads or things
  if (RE2::FullMatch(text, runs)) {
    double sum = 0.0, count = 0.0, least = std::numeric_limits<double>::infinity(), most = 0.0;
    std::string_view rest = text;
    while (const auto run = take_measure(rest)) {
      sum += *run;
      ++count;
      least = std::min(least, *run);
      most = std::max(most, *run);
      rest = trimmed(rest);
      if (!rest.empty()) rest.remove_prefix(1);  // the slash
    }
    number.value = most <= repeated * least ? std::optional(sum / count) : std::nullopt;
  } else if (take_range(text, low, high, percent)) {
    const bool one = high <= repeated * low;
    number = {.value = one ? std::optional(0.5 * (low + high)) : std::nullopt,
              .percent = !percent.empty(),
              .gain = !percent.empty()};
  }
  return number;
}

bool is_whole(std::string_view cell, std::string_view above) {
  const auto decimals = [](std::string_view text) {
    text.remove_prefix(std::min(text.find('.'), text.size()));
    return std::min(text.find_first_not_of("0123456789", 1), text.size());
  };
  return decimals(cell) > 1 && decimals(cell) == decimals(above);
}

bool in_tokens_per_s(std::string_view cell) {
  static const RE2 speed(
      R"((?i)[^\w.]*[\d.,]+(?:(?:\W{1,5}| to )[\d.,]+)*[ `*]*(?:t(?:o?ks?|oken|okens)?(?:/| per )s(?:ec|econd)?|tps)\b.*)",
      RE2::Latin1);
  return RE2::FullMatch(piece(cell), speed);
}

std::optional<double> gain_in(std::string_view cell) {
  static const RE2 gain("(?:\\+|(-|\xE2\x88\x92))? ?(\\d+(?:\\.\\d+)?) ?(%|[xX]|\xC3\x97).*");
  const std::string text = bare_cell(cell);
  std::string less, unit;
  double number = 0.0;
  if (!RE2::FullMatch(text, gain, &less, &number, &unit)) return std::nullopt;
  const double ratio = unit != "%" ? number : less.empty() ? 1.0 + number / 100.0 : 1.0 - number / 100.0;
  return ratio > 0.0 ? std::optional(ratio) : std::nullopt;
}

void join_gains(std::vector<std::string>& cells, std::size_t count) {
  static const RE2 gain("[*` ]*(?:[+-]|\xE2\x88\x92) ?\\d+(?:\\.\\d+)? ?%[*` ]*");
  const auto is_gain = [](const std::string& cell) { return RE2::FullMatch(cell, gain); };
  const auto gains = static_cast<std::size_t>(std::ranges::count_if(cells, is_gain));
  if (cells.size() <= count || cells.size() - gains != count || is_gain(cells.front())) return;
  std::vector<std::string> joined;
  for (const std::string& cell : cells) {
    if (is_gain(cell)) {
      joined.back() += " (" + bare_cell(cell) + ")";
    } else {
      joined.push_back(cell);
    }
  }
  cells = std::move(joined);
}

std::optional<double> rate_beside(std::string_view cell) {
  static const RE2 rate(R"((?i).*[,;(@] ?~?([\d.]+) ?% ?(?:draft )?accept.*)");
  static const RE2 rate_after(R"((?i).*[,;(@] ?(?:draft )?accept\w*(?: rate)?[ :=~]*([\d.]+) ?%.*)");
  double percent = 0.0;
  const re2::StringPiece text = piece(cell);
  const bool found = RE2::FullMatch(text, rate, &percent) || RE2::FullMatch(text, rate_after, &percent);
  return found && percent <= 100.0 ? std::optional(percent / 100.0) : std::nullopt;
}

}  // namespace foredraft::logs
