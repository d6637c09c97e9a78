// SPDX-License-Identifier: Apache-2.0
#include "logs/spoken_setups.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "logs/log_format.hpp"

namespace foredraft::logs {

std::vector<SpokenSpeed> taken_out(std::vector<SpokenSpeed>& speeds,
                                   const std::function<bool(const SpokenSpeed&)>& is_one) {
  const auto rest = std::stable_partition(speeds.begin(), speeds.end(), std::not_fn(is_one));
  std::vector<SpokenSpeed> taken(std::make_move_iterator(rest), std::make_move_iterator(speeds.end()));
  speeds.erase(rest, speeds.end());
  return taken;
}

namespace {

/// Whether speeds may be of one setup: those without speculation differ by at most 10 %, those of each arm that drafts
/// by less than those of other models.
bool of_one_setup(std::span<const SpokenSpeed> speeds) {
  constexpr double same = 1.1, same_arm = 1.5;
  return std::ranges::all_of(speeds, [&](const SpokenSpeed& one) {
    return std::ranges::all_of(speeds, [&](const SpokenSpeed& other) {
      const bool of_arm = one.arm->plain == other.arm->plain && one.arm->gamma == other.arm->gamma &&
                          one.arm->drafter == other.arm->drafter;
      return !of_arm || one.tokens_per_s <= (one.arm->plain ? same : same_arm) * other.tokens_per_s;
    });
  });
}

/// Names the setups of speeds that come in pairs: each has one speed without speculation, all before or all after
/// those with it. False if they do not.
bool are_paired(std::span<SpokenSpeed> speeds) {
  const bool plain_first = speeds.front().arm->plain;
  std::size_t begin = 0;
  std::set<std::string> names;
  bool paired = true;
  for (std::size_t i = 0; i <= speeds.size(); ++i) {
    const auto plain = std::count_if(speeds.begin() + static_cast<std::ptrdiff_t>(begin),
                                     speeds.begin() + static_cast<std::ptrdiff_t>(i),
                                     [](const SpokenSpeed& one) { return one.arm->plain; });
    const bool ends =
        i == speeds.size() || (i > begin && (plain_first ? speeds[i].arm->plain : !speeds[i].arm->plain && plain > 0));
    if (ends) {
      const std::span<SpokenSpeed> pair = speeds.subspan(begin, i - begin);
      paired = paired && plain == 1 && pair.size() > 1 && of_one_setup(pair);
      std::string name = fmt::format("line {}", pair.front().line);
      const auto is_plain = [](const SpokenSpeed& one) { return one.arm->plain; };
      const auto plain_speed = std::ranges::find_if(pair, is_plain);
      if (!names.insert(name).second && plain_speed != pair.end())
        name += fmt::format(", plain {:.4g} tok/s", plain_speed->tokens_per_s);
      for (SpokenSpeed& one : pair) one.setup = name;
      begin = i;
    }
  }
  return paired;
}

/// Keeps the lines with one speed without speculation and others with it, each as a setup. Returns the others.
std::vector<SpokenSpeed> keep_complete_lines(std::vector<SpokenSpeed>& speeds) {
  const std::vector<SpokenSpeed> all = speeds;
  const auto is_alone = [&](const SpokenSpeed& one) {
    const auto same = [&](const SpokenSpeed& other) { return other.line == one.line; };
    const auto plain = [&](const SpokenSpeed& other) { return same(other) && other.arm->plain; };
    return std::ranges::count_if(all, plain) != 1 || std::ranges::count_if(all, same) < 2;
  };
  std::vector<SpokenSpeed> others = taken_out(speeds, is_alone);
  for (SpokenSpeed& one : speeds) one.setup = fmt::format("line {}", one.line);
  std::erase_if(others, [&](const SpokenSpeed& other) {  // said again
    return std::ranges::find(speeds, other.tokens_per_s, &SpokenSpeed::tokens_per_s) != speeds.end();
  });
  return others;
}

/// Whether each speed has one of the other arm in its setup and at its load, and those of an arm are of one setup.
bool are_complete(std::span<const SpokenSpeed> speeds) {
  return std::ranges::all_of(speeds, [&](const SpokenSpeed& one) {
    std::vector<SpokenSpeed> beside;
    std::ranges::copy_if(speeds, std::back_inserter(beside), [&](const SpokenSpeed& other) {
      return other.setup == one.setup && other.requests == one.requests;
    });
    const auto is_other = [&](const SpokenSpeed& other) { return other.arm->plain != one.arm->plain; };
    return std::ranges::any_of(beside, is_other) && of_one_setup(beside);
  });
}

/// The name of the line of a speed: the model, if each line names another one.
std::string line_name(std::span<const SpokenSpeed> speeds, const SpokenSpeed& of) {
  const bool tells = std::ranges::all_of(speeds, [&](const SpokenSpeed& one) {
    return !one.model.empty() && (one.model == of.model) == (one.line == of.line);
  });
  return tells ? of.model : fmt::format("line {}", of.line);
}

/// Names the setups of speeds of which the text names each load, several in all, by these; those of lines that state
/// other speeds at the same load by their lines too. False if a load has only one arm.
bool are_of_loads(std::span<SpokenSpeed> speeds) {
  const auto has_none = [](const SpokenSpeed& one) { return one.requests.empty(); };
  const auto differs = [&](const SpokenSpeed& one) { return one.requests != speeds.front().requests; };
  if (std::ranges::any_of(speeds, has_none) || std::ranges::none_of(speeds, differs)) return false;
  for (SpokenSpeed& one : speeds) one.setup = {};
  const bool by_line = !are_complete(speeds);
  for (SpokenSpeed& one : speeds)
    if (by_line) one.setup = line_name(speeds, one);
  if (by_line && !are_complete(speeds)) return false;
  for (SpokenSpeed& one : speeds)
    if (!one.load) one.setup += (one.setup.empty() ? "" : ", ") + one.requests;
  return true;
}

/// Names the setups of speeds of which each is one of two in a sentence, and a line has several such pairs. False
/// otherwise.
bool are_pairs_of_lines(std::span<SpokenSpeed> speeds) {
  bool several = false;
  for (std::size_t i = 0; i + 1 < speeds.size(); i += 2) {
    if (speeds[i].pair == 0 || speeds[i].pair != speeds[i + 1].pair || speeds[i].line != speeds[i + 1].line ||
        speeds[i].arm->plain == speeds[i + 1].arm->plain)
      return false;
    several = several || (i > 0 && speeds[i].line == speeds[i - 1].line);
  }
  if (!several || speeds.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < speeds.size(); ++i)
    speeds[i].setup =
        fmt::format("{:.4g} -> {:.4g} tok/s", speeds[i - i % 2].tokens_per_s, speeds[i - i % 2 + 1].tokens_per_s);
  return true;
}

/// Drops speeds of the arm without speculation that are those of one with it, "median: 82 tok/s, 1.6x over baseline",
/// beside others that are not, and returns them.
std::vector<SpokenSpeed> drop_repeated(std::vector<SpokenSpeed>& speeds) {
  constexpr double rounded = 1.02;
  const std::vector<SpokenSpeed> all = speeds;
  const auto is_repeated = [&](const SpokenSpeed& one) {
    return one.arm->plain && std::ranges::any_of(all, [&](const SpokenSpeed& other) {
             const auto [less, more] = std::minmax(one.tokens_per_s, other.tokens_per_s);
             return !other.arm->plain && more <= rounded * less;
           });
  };
  const auto is_plain = [&](const SpokenSpeed& one) { return one.arm->plain && !is_repeated(one); };
  return std::ranges::none_of(all, is_plain) ? std::vector<SpokenSpeed>() : taken_out(speeds, is_repeated);
}

}  // namespace

std::vector<SpokenSpeed> keep_only_list(std::vector<SpokenSpeed>& speeds) {
  std::optional<std::pair<std::int64_t, std::int64_t>> list;  // its first line and the one behind its last
  for (std::size_t begin = 0, end = 0; begin < speeds.size(); begin = end) {
    for (end = begin + 1; end < speeds.size() && speeds[end].line == speeds[end - 1].line + 1;) ++end;
    const auto lines = std::span(speeds).subspan(begin, end - begin);
    const auto plain = std::ranges::count_if(lines, [](const SpokenSpeed& one) { return one.arm->plain; });
    constexpr std::size_t several = 3;
    if (plain != 1 || lines.size() < several) continue;
    if (list) return {};
    list = {lines.front().line, lines.back().line + 1};
  }
  if (!list) return {};
  std::vector<SpokenSpeed> others =
      taken_out(speeds, [&](const SpokenSpeed& one) { return one.line < list->first || one.line >= list->second; });
  std::erase_if(others, [&](const SpokenSpeed& other) {
    return std::ranges::find(speeds, other.tokens_per_s, &SpokenSpeed::tokens_per_s) != speeds.end();
  });
  return others;
}

std::vector<SpokenSpeed> tell_setups(std::vector<SpokenSpeed>& speeds, bool changes) {
  if (are_of_loads(speeds) || are_pairs_of_lines(speeds)) return {};
  for (SpokenSpeed& one : speeds) one.setup = {};
  const std::int64_t line = speeds.front().line;
  const bool one_line = std::ranges::all_of(speeds, [&](const SpokenSpeed& one) { return one.line == line; });
  if (of_one_setup(speeds) && (one_line || !changes)) return {};
  if (!changes && are_paired(speeds)) return {};
  std::vector<SpokenSpeed> all = speeds;
  auto dropped = keep_complete_lines(speeds);
  if (!speeds.empty()) return dropped;
  dropped = drop_repeated(all);
  if (!dropped.empty() && of_one_setup(all)) {
    speeds = std::move(all);
    return dropped;
  }
  reject({.line = line,
          .text = "speeds of one arm that differ",
          .why = "of which setups are they?",
          .suggestion = "write a table with the columns model, config and tok/s, or a file for each setup"});
}

std::vector<SpokenSpeed> drop_others(std::vector<SpokenSpeed>& speeds) {
  const std::vector<SpokenSpeed> all = speeds;
  const auto is_alone = [&](const SpokenSpeed& one) {
    return std::ranges::none_of(all, [&](const SpokenSpeed& other) {
      return one.arm->plain != other.arm->plain && may_be_compared(one.subject, other.subject);
    });
  };
  const auto first = std::ranges::find_if(all, is_alone);
  const auto plain = std::ranges::count_if(all, [](const SpokenSpeed& one) { return one.arm->plain; });
  if (first == all.end() || plain == 0 || plain == std::ssize(all)) return {};
  std::vector<SpokenSpeed> others = taken_out(speeds, is_alone);
  if (!speeds.empty()) return others;
  reject({.line = first->line,
          .text = "speeds with and without speculation",
          .why = "of several engines or checkpoints, so their ratio is not that of speculation",
          .suggestion = "give both speeds of one engine and one checkpoint"});
}

}  // namespace foredraft::logs
