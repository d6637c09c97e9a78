// SPDX-License-Identifier: Apache-2.0
#include "core/problems.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>
#include <utility>

#include "core/readable.hpp"

namespace foredraft {
namespace {

/// Edit distance from a to b: insert, delete, replace, swap neighbors.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last = std::exchange(last, row);
  }
  return last[b.size()];
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
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

std::string_view nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    // Each extra letter is an edit; this avoids the quadratic distance for long keys.
    const std::size_t shorter = std::min(word.size(), candidate.size());
    if (std::max(word.size(), candidate.size()) - shorter >= best_distance || candidate == word) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion_for(std::string_view word, std::span<const std::string> candidates) {
  if (const std::string_view near = nearest(word, candidates); !near.empty()) {
    return without_blanks(word) == near ? "remove the blanks around it" : fmt::format("did you mean {}?", near);
  }
  return candidates.empty() ? std::string{} : fmt::format("known: {}", fmt::join(candidates, ", "));
}

}  // namespace foredraft
