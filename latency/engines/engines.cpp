// SPDX-License-Identifier: Apache-2.0
#include "latency/engines/engines.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>
#include <algorithm>
#include <concepts>
#include <iterator>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>

#include "core/check.hpp"
#include "core/names.hpp"
#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "latency/toml_tables.hpp"

namespace foredraft::latency {
namespace {

/// A minute of the host; more is another unit.
constexpr NumberLimits host_limits{0.0, 6e7};
constexpr NumberLimits step_limits{0.01, 6e7};
constexpr double max_engine_count = 16'777'216.0;
constexpr NumberLimits token_limits{0.0, max_engine_count};

/// In the order in which they are written.
constexpr std::tuple engine_keys{
    Key{"summary", &Engine::summary, Presence::required, {}, "what it is, for lists"},
    Key{"aliases", &Engine::aliases},
    Key{"asynchronous", &Engine::asynchronous},
    Key{"slot_by_slot", &Engine::slot_by_slot},
    Key{"prefill", &Engine::prefill},
    Key{"pass_tokens", &Engine::pass_tokens, Presence::optional, token_limits},
    Key{"graph_tokens", &Engine::graph_tokens, Presence::optional, token_limits},
    Key{"max_requests", &Engine::max_requests, Presence::optional, NumberLimits{1.0, max_engine_count}},
    Key{"host_us", &Engine::host_us, Presence::optional, host_limits},
    Key{"host_request_us", &Engine::host_request_us, Presence::optional, host_limits},
    Key{"draft_host_us", &Engine::draft_host_us, Presence::optional, host_limits},
    Key{"draft_host_request_us", &Engine::draft_host_request_us, Presence::optional, host_limits},
    Key{"eager_operator_us", &Engine::eager_operator_us, Presence::optional, host_limits},
    Key{"step", &Engine::step, Presence::optional, step_limits},
    Key{"source", &Engine::source, Presence::required, {}, "every number needs its source"}};

bool is_engine_name(std::string_view name) {
  constexpr std::string_view others = "-._+";
  return !plain_name(name).empty() && std::ranges::all_of(name, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.find(c) != std::string_view::npos;
  });
}

class EngineReader {
 public:
  explicit EngineReader(TomlTable table) : table_(std::move(table)) { engine_.name = table_.name(); }

  Engine read() {
    if (!is_engine_name(engine_.name)) {
      table_.reject(table_.line_at(""), "name", "invalid name", "must be letters, digits and - . _ +");
    }
    table_.read_keys(engine_, engine_keys, *this);
    for (const std::string& alias : engine_.aliases) {
      if (plain_name(alias).empty()) {
        table_.reject(table_.line_at("aliases"), "aliases", "wrong type", "must be a list of nonempty strings");
      }
    }
    table_.reject_unknown_keys();
    if (table_.sound()) check_chunks();
    return std::move(engine_);
  }

  template <typename Value>
  std::optional<Value> value_at(std::string_view key, const toml::node& node, const NumberLimits& limits) {
    if constexpr (std::same_as<Value, Range>) {
      return range_at(key, node, limits);
    } else {
      return table_.value_at<Value>(key, node, limits);
    }
  }

 private:
  std::optional<Range> range_at(std::string_view key, const toml::node& node, const NumberLimits& limits) {
    const auto reject = [&](std::string why) {
      table_.reject(table_.line_at(key), key, "invalid range", std::move(why));
      return std::nullopt;
    };
    const toml::table* ends = node.as_table();
    Range range;
    for (const auto& [end, member] :
         {std::pair{"low", &Range::low}, {"value", &Range::value}, {"high", &Range::high}}) {
      const toml::node* found = ends == nullptr ? &node : ends->get(end);
      const std::optional<double> number = found == nullptr ? std::nullopt : number_of(*found);
      if (!number) return reject("must be a number, or {low, value, high} of numbers");
      if (!table_.within(key, *found, *number, limits)) return std::nullopt;
      range.*member = *number;
    }
    if (!(range.low <= range.value && range.value <= range.high) || (ends != nullptr && ends->size() != 3)) {
      return reject("must be low, value and high, in ascending order");
    }
    return range;
  }

  void check_chunks() {
    if (engine_.prefill == Prefill::chunked && engine_.pass_tokens == 0) {
      table_.reject_missing("pass_tokens", "chunked prefill needs the most tokens of a pass");
    }
  }

  TomlTable table_;
  Engine engine_;
};

/// As a value of TOML.
template <typename Value>
std::string literal(const Value& value) {
  if constexpr (std::same_as<Value, std::string>) {
    std::ostringstream out;
    out << toml::toml_formatter(toml::value(value), toml::format_flags::none);
    return out.str();
  } else if constexpr (std::same_as<Value, std::vector<std::string>>) {
    std::vector<std::string> literals;
    for (const std::string& text : value) literals.push_back(literal(text));
    return fmt::format("[{}]", fmt::join(literals, ", "));
  } else if constexpr (std::same_as<Value, Range>) {
    return fmt::format("{{ low = {}, value = {}, high = {} }}", value.low, value.value, value.high);
  } else if constexpr (std::same_as<Value, Prefill>) {
    return fmt::format("\"{}\"", to_string(value));
  } else {
    return fmt::format("{}", value);
  }
}

double at_end(const Range& range, EngineEnd end) {
  switch (end) {
    case EngineEnd::fast:
      return range.low;
    case EngineEnd::central:
      return range.value;
    case EngineEnd::slow:
      break;
  }
  return range.high;
}

}  // namespace

EngineTerms terms_of(const Engine& engine, EngineEnd end, double operators) {
  check_nonnegative("operators", operators);
  return {.host_us = at_end(engine.host_us, end),
          .host_request_us = at_end(engine.host_request_us, end),
          .draft_host_us = at_end(engine.draft_host_us, end),
          .draft_host_request_us = at_end(engine.draft_host_request_us, end),
          .asynchronous = engine.asynchronous,
          .graph_tokens = engine.graph_tokens,
          .eager_us = operators * at_end(engine.eager_operator_us, end),
          .slot_by_slot = engine.slot_by_slot,
          .prefill = engine.prefill,
          .pass_tokens = engine.pass_tokens};
}

Engine no_engine() { return engine_registry().front(); }

std::vector<Engine> parse_engines(std::string_view text, const std::string& name) {
  // The parser sorts tables by name.
  using Placed = std::pair<std::int64_t, Engine>;
  std::vector<Placed> placed = parse_tables<Placed>(text, name, "engine", "begin it with [\"its name\"]",
                                                    [](TomlTable table, ProblemList& /*problems*/) {
                                                      const std::int64_t line = table.line_at("");
                                                      return Placed{line, EngineReader(std::move(table)).read()};
                                                    });
  std::ranges::stable_sort(placed, {}, &Placed::first);
  std::vector<Engine> engines;
  std::ranges::transform(placed, std::back_inserter(engines), [](Placed& one) { return std::move(one.second); });
  return engines;
}

std::string engine_toml(const Engine& engine) {
  std::string text = fmt::format("[\"{}\"]\n", engine.name);
  const auto write = [&](const auto& key) {
    const std::string value = literal(engine.*key.member);
    if (value != "[]") fmt::format_to(std::back_inserter(text), "{} = {}\n", key.key, value);
  };
  std::apply([&write](const auto&... key) { (write(key), ...); }, engine_keys);
  return text;
}

const std::vector<Engine>& engine_registry() {
  static const std::vector<Engine> engines = parse_engines(engine_texts().front().text, "latency/engines/engines.toml");
  return engines;
}

const Engine* find_engine(std::string_view word) {
  const std::string plain = plain_name(word);
  if (plain.empty()) return nullptr;
  const auto called = [&plain](const Engine& engine) {
    return plain_name(engine.name) == plain ||
           std::ranges::any_of(engine.aliases, [&](const std::string& alias) { return plain_name(alias) == plain; });
  };
  const auto found = std::ranges::find_if(engine_registry(), called);
  return found == engine_registry().end() ? nullptr : &*found;
}

std::vector<Engine> common_engines() {
  std::vector<Engine> engines;
  for (const std::string_view name : {"vllm", "sglang"}) engines.push_back(*find_engine(name));
  return engines;
}

}  // namespace foredraft::latency
