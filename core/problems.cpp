// SPDX-License-Identifier: Apache-2.0
#include "core/problems.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "core/names.hpp"
#include "core/readable.hpp"

namespace foredraft {
namespace {

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

/// If there are more names, the message refers to a command that lists them.
constexpr std::size_t max_known_names = 12;

/// The command that lists the candidates with the same first word, or all if there are none.
std::string list_command(std::string_view name, std::span<const std::string> candidates, std::string_view list) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto begin = std::find_if(name.begin(), name.end(), is_letter);
  const std::string word(begin, std::find_if_not(begin, name.end(), is_letter));
  const bool found = word.size() > 1 && std::ranges::any_of(candidates, [&](const std::string& candidate) {
                       return mentions(candidate, word);
                     });
  return found ? fmt::format("foredraft list {} {} shows those of that word", list, word)
               : fmt::format("foredraft list {} shows all", list);
}

std::string line_of(const std::string& source, const Problem& problem) {
  std::string line = readable(source);
  if (problem.line > 0) line += fmt::format(":{}", problem.line);
  if (!problem.key.empty()) line.append(": ").append(readable(problem.key));
  line.append(": ").append(readable_part(problem.text));
  if (!problem.why.empty()) line.append(" (").append(readable_part(problem.why)).append(")");
  if (!problem.suggestion.empty()) line.append(" - ").append(readable_part(problem.suggestion));
  return line;
}

}  // namespace

void ProblemList::raise() const {
  if (!empty()) throw InputError(text());
}

std::string ProblemList::text() const {
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) { return a.line < b.line; });
  std::string lines;
  for (std::size_t i = 0; i < std::min(sorted.size(), max_problems); ++i) {
    if (i > 0) lines += '\n';
    lines += line_of(source_, sorted[i]);
  }
  if (sorted.size() > max_problems) {
    lines += '\n' + line_of(source_, {.text = fmt::format("and {} more problems", sorted.size() - max_problems)});
  }
  return lines;
}

std::string suggestion_for(std::string_view word, std::span<const std::string> candidates, std::string_view list) {
  if (const std::string_view near = nearest(word, candidates); !near.empty()) {
    return without_blanks(word) == near ? "remove the spaces around it" : fmt::format("did you mean {}?", near);
  }
  if (!list.empty() && candidates.size() > max_known_names) return list_command(word, candidates, list);
  return candidates.empty() ? std::string{} : fmt::format("known: {}", fmt::join(candidates, ", "));
}

}  // namespace foredraft
