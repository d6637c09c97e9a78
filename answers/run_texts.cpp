// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "answers/run_groups.hpp"
#include "answers/runs.hpp"
#include "core/names.hpp"
#include "core/readable.hpp"
#include "logs/arms.hpp"

namespace foredraft::answers {
namespace {

constexpr std::size_t longest_category = 24;
constexpr std::size_t longest_drafter = 24;

std::string values_text(const std::set<std::string>& values) {
  constexpr std::size_t shown = 3;
  return values.size() <= shown ? fmt::format("{}", fmt::join(values, ", ")) : fmt::format("{} values", values.size());
}

/// At a low load more tokens do not matter: an iteration reads 1,024 of them in at most some percent of the time that
/// the weights take (some 0.1 GB beside several). An unknown load is that of a user who logs single requests.
std::string lengths_differ(std::string_view name, const std::optional<double>& one, const std::optional<double>& other,
                           const std::optional<double>& requests) {
  constexpr double brief = 1024.0;
  const double alike = std::max(short_context, brief / std::max(1.0, requests.value_or(1.0)));
  if (!one || !other || are_alike(*one, *other) || std::abs(*one - *other) < alike) return "";
  return fmt::format("{} {:.0f} against {:.0f} tokens", name, *one, *other);
}

std::string loads_differ(const Run& one, const Run& other) {
  if (one.load == other.load && (one.load.request_rate_per_s || one.load.offered_requests)) return "";
  const bool stated = one.load.request_rate_per_s != other.load.request_rate_per_s ||
                      one.load.offered_requests != other.load.offered_requests;
  const bool known = one.requests && other.requests;
  if (!stated && (known ? are_alike(*one.requests, *other.requests) : one.load == other.load)) return "";
  return fmt::format("{} against {}", load_text(one), load_text(other));
}

/// The first name, of the engine or the target, that both runs state and that differs.
std::string names_differ(const RunSetting& one, const RunSetting& other) {
  const auto both = [](std::string_view what, const std::string& first, const std::string& second) {
    return fmt::format("{} {} against {}", what, readable(first), readable(second));
  };
  const auto differ = [](const std::string& first, const std::string& second) {
    return !first.empty() && !second.empty() && first != second;
  };
  if (differ(one.engine, other.engine)) return both("engine", one.engine, other.engine);
  const bool targets = differ(logs::model_without_drafter(one.target), logs::model_without_drafter(other.target));
  return targets ? both("target", one.target, other.target) : "";
}

/// Short names of the targets by these names without the words of a drafter: the tag with a drafter is of one target
/// with the tag without.
std::map<std::string, std::string> targets_of(std::span<const logs::ObservedLog> logs) {
  std::map<std::string, std::string> names;
  for (const logs::ObservedLog& log : logs) {
    if (!log.contents.settings.target) continue;
    const std::string name = short_name(*log.contents.settings.target);
    names.emplace(logs::model_without_drafter(name), name);
  }
  return names;
}

std::string target_against(const std::string& one, const std::string& other) {
  return fmt::format("target {} against {}", readable(one), readable(other));
}

/// "adaptive, 3.1 of 7": mean and maximum draft length; "adaptive up to K = 7" if only the maximum is known.
std::string adaptive_text(const Run& run) {
  if (!run.setting.gamma) return "adaptive";
  if (!run.drafted) return fmt::format("adaptive up to K = {}", *run.setting.gamma);
  return fmt::format("adaptive, {:.2g} of {}", *run.drafted, *run.setting.gamma);
}

/// Empty if neither is known.
std::string engine_words(const RunSetting& setting) {
  return setting.engine + (setting.engine.empty() || setting.version.empty() ? "" : " ") + setting.version;
}

/// What distinguishes a setting from others of `runs`, with the draft length in the middle unless it is empty.
std::string setting_words(const RunSetting& setting, std::span<const Run> runs, const std::string& length) {
  std::set<std::string> drafters;
  std::set<std::string> models;
  std::set<std::string> versions;
  for (const Run& one : runs) {
    if (one.is_plain()) continue;
    drafters.insert(one.setting.drafter);
    models.insert(one.setting.draft_model);
    versions.insert(engine_words(one.setting));
  }
  std::vector<std::string> words;
  const auto add = [&](const std::string& word, std::size_t kinds) {
    if (!word.empty() && kinds > 1) words.push_back(readable(word, longest_drafter));
  };
  add(setting.drafter, drafters.size());
  add(setting.draft_model, models.size());
  if (!length.empty()) words.push_back(length);
  add(engine_words(setting), versions.size());
  if (!setting.file.empty()) words.push_back(readable(short_name(setting.file), longest_drafter));
  return fmt::format("{}", fmt::join(words, ", "));
}

/// "tree of 16, 4 deep"; its whole setting if others of `runs` have these numbers, too.
std::string tree_text(const logs::DraftTree& tree, std::span<const Run> runs) {
  const auto is_alike = [&](const Run& one) {
    const auto& other = one.setting.tree;
    return other && other->tokens == tree.tokens && other->steps == tree.steps && other->width != tree.width;
  };
  return std::ranges::any_of(runs, is_alike) ? to_string(tree)
                                             : fmt::format("tree of {}, {} deep", tree.tokens, tree.steps);
}

}  // namespace

std::string token_count_text(double tokens) {
  constexpr double thousand = 1000.0;
  return tokens < thousand ? fmt::format("{:.0f} tokens", tokens) : fmt::format("{:.3g}k tokens", tokens / thousand);
}

std::string difference_of(const Run& one, const Run& other) {
  if (std::string names = names_differ(one.setting, other.setting); !names.empty()) return names;
  for (const auto& [name, values] : one.circumstances) {
    const auto found = other.circumstances.find(name);
    if (found == other.circumstances.end() || found->second == values) continue;
    return fmt::format("{} {} against {}", name, values_text(values), values_text(found->second));
  }
  std::string differs = loads_differ(one, other);
  if (differs.empty()) differs = lengths_differ("context", one.context_tokens, other.context_tokens, one.requests);
  // llama-bench times steps at a context, of no answer: it generates 128 tokens whatever the answers are.
  if (!differs.empty() || one.of_bench || other.of_bench) return differs;
  return lengths_differ("output", one.output_tokens, other.output_tokens, one.requests);
}

namespace {

/// Whether the load of the first is taken for that of the other, then whether the loads are others, then how many
/// tokens lie between the contexts; a run that states none is nearest to the shortest.
using Distance = std::tuple<bool, bool, double>;

Distance distance_of(const Run& one, const Run& other, bool taken) {
  const double context = one.context_tokens.value_or(0.0);
  return {taken, one.load != other.load, std::abs(context - other.context_tokens.value_or(context))};
}

}  // namespace

PlainRun plain_run_for(const Run& run, std::span<const Run* const> plain) {
  std::string first;
  std::optional<std::pair<Distance, std::size_t>> nearest;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain[i] == nullptr) continue;
    std::string differs = difference_of(run, *plain[i]);
    Run alone = run;
    alone.load = plain[i]->load;
    alone.requests = plain[i]->requests;
    const bool may_be_alone = run.load.is_unknown() && !run.requests && plain[i]->requests.value_or(2.0) <= 1.0;
    const bool taken = !differs.empty() && may_be_alone && difference_of(alone, *plain[i]).empty();
    const std::pair here{distance_of(run, *plain[i], taken), i};
    if ((differs.empty() || taken) && (!nearest || here < *nearest)) nearest = here;
    if (first.empty()) first = std::move(differs);
  }
  return nearest ? PlainRun{.run = nearest->second} : PlainRun{.differs = first};
}

bool is_whole(const RunLoad& load) {
  constexpr std::array<std::string_view, 6> words{"overall", "all", "mean", "average", "avg", "total"};
  return load.category && std::ranges::find(words, lower_case(*load.category)) != words.end();
}

std::string load_text(const Run& run) {
  std::string of = run.load.category ? " of " + readable(*run.load.category, longest_category) : "";
  if (run.load.sampling) of += ", " + *run.load.sampling;
  if (run.load.context) of += fmt::format(" at {}", token_count_text(run.context_tokens.value_or(*run.load.context)));
  if (run.load.request_rate_per_s) return fmt::format("{:.3g} requests/s{}", *run.load.request_rate_per_s, of);
  if (const auto& offered = run.load.offered_requests)
    return fmt::format("{:.0f} request{} at once{}", *offered, *offered == 1.0 ? "" : "s", of);
  if (!run.requests || !run.load.requests) return "unknown load" + of;
  const std::string requests = fmt::format("{:.3g}", *run.requests);
  return fmt::format("{} request{}{}", requests, requests == "1" ? "" : "s", of);
}

std::string setting_text(const Run& run, std::span<const Run> runs) {
  if (run.is_plain()) return "plain";
  const std::string length = run.setting.adaptive ? adaptive_text(run)
                             : run.setting.gamma  ? fmt::format("K = {}", *run.setting.gamma)
                             : run.setting.tree   ? tree_text(*run.setting.tree, runs)
                                                  : std::string("K unknown");
  return setting_words(run.setting, runs, length);
}

std::string drafter_text(const RunSetting& setting, std::span<const Run> runs) {
  return setting_words(setting, runs, setting.tree ? to_string(*setting.tree) : "");
}

std::string targets_differ(std::span<const logs::ObservedLog> one, std::span<const logs::ObservedLog> other) {
  const auto first = targets_of(one);
  const auto second = targets_of(other);
  for (const auto& all : {first, second}) {
    if (all.size() > 1) return target_against(all.begin()->second, all.rbegin()->second);
  }
  if (first.empty() || second.empty() || first.begin()->first == second.begin()->first) return "";
  return target_against(first.begin()->second, second.begin()->second);
}

std::string targets_taken_for_one(std::span<const logs::ObservedLog> one, std::span<const logs::ObservedLog> other) {
  std::set<std::string> names;
  for (const auto& logs : {one, other}) {
    for (const logs::ObservedLog& log : logs) {
      if (log.contents.settings.target) names.insert(short_name(*log.contents.settings.target));
    }
  }
  const bool differ = names.size() > 1 && targets_differ(one, other).empty();
  return differ ? target_against(*names.begin(), *names.rbegin()) : "";
}

nlohmann::ordered_json warnings_json(std::span<const logs::LogWarning> warnings) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& [code, line, message] : warnings) {
    rows.push_back({{"code", code}, {"line", nullptr}, {"message", message}});
    if (line > 0) rows.back()["line"] = line;
  }
  return rows;
}

namespace {

/// `text` up to the last of its words, or of its parts between semicolons, that `most` characters hold.
std::string begin_of(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  const std::size_t part = text.rfind(';', most), word = text.rfind(' ', most);
  const bool by_part = part != std::string::npos && part > most / 2;
  if (!by_part && word == std::string::npos) return readable(text, most);
  return text.substr(0, by_part ? part + 1 : word) + " \xE2\x80\xA6";
}

/// What a table was read as; of a long one its beginning, and the beginning of what was not read.
std::string begin_of_reading(const std::string& text) {
  constexpr std::size_t most = 164;  // characters, two lines of an answer
  const std::size_t unread = text.find("; not read: ");
  if (text.size() <= most || unread == std::string::npos) return begin_of(text, most);
  return begin_of(text.substr(0, unread), most) + begin_of(text.substr(unread), most);
}

}  // namespace

std::vector<std::string> warning_lines(std::span<const logs::LogWarning> warnings) {
  constexpr std::size_t most = 3;  // of one code
  std::map<std::string, std::vector<std::string>> by_code;
  std::vector<std::string> codes;  // in their order
  for (const logs::LogWarning& warning : warnings) {
    std::vector<std::string>& messages = by_code[warning.code];
    if (messages.empty()) codes.push_back(warning.code);
    const bool each = warning.code == "W18" || warning.code == "W22";
    const bool said = std::ranges::find(messages, warning.message) != messages.end();
    if (messages.empty() || (each && !said)) messages.push_back(warning.message);
  }
  std::vector<std::string> lines;
  for (const std::string& code : codes) {
    const std::vector<std::string>& messages = by_code[code];
    for (std::size_t i = 0; i < std::min(messages.size(), most); ++i)
      lines.push_back(code + " " + readable(code == "W22" ? begin_of_reading(messages[i]) : messages[i]));
    if (messages.size() > most)
      lines.push_back(fmt::format("{} {} more: --json has them", code, messages.size() - most));
  }
  return lines;
}

}  // namespace foredraft::answers
