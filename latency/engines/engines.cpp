// SPDX-License-Identifier: Apache-2.0
#include "latency/engines/engines.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "core/check.hpp"
#include "core/names.hpp"
#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "latency/toml_tables.hpp"

namespace foredraft::latency {
namespace {

struct EngineRange {
  std::string_view key;
  Range Engine::*range;
  double least;  ///< minimum legal number
};

constexpr std::array<EngineRange, 6> engine_ranges{{
    {"host_us", &Engine::host_us, 0.0},
    {"host_request_us", &Engine::host_request_us, 0.0},
    {"draft_host_us", &Engine::draft_host_us, 0.0},
    {"draft_host_request_us", &Engine::draft_host_request_us, 0.0},
    {"eager_operator_us", &Engine::eager_operator_us, 0.0},
    {"step", &Engine::step, 0.01},
}};
/// A minute of the host; more is another unit.
constexpr double max_engine_us = 6e7;

struct EngineFlag {
  std::string_view key;
  bool Engine::*flag;
};

constexpr std::array<EngineFlag, 2> engine_flags{{
    {"asynchronous", &Engine::asynchronous},
    {"slot_by_slot", &Engine::slot_by_slot},
}};

struct EngineCount {
  std::string_view key;
  std::int64_t Engine::*count;
  std::int64_t least;
};

constexpr std::int64_t max_engine_count = 16'777'216;
constexpr std::array<EngineCount, 3> engine_counts{{
    {"pass_tokens", &Engine::pass_tokens, 0},
    {"graph_tokens", &Engine::graph_tokens, 0},
    {"max_requests", &Engine::max_requests, 1},
}};

struct PrefillWord {
  std::string_view word;
  Prefill prefill;
};

constexpr std::array<PrefillWord, 2> prefill_words{{{"alone", Prefill::alone}, {"chunked", Prefill::chunked}}};

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
    engine_.summary = text("summary", "what it is, for lists");
    engine_.source = text("source", "every number needs its source");
    read_names();
    for (const EngineRange& one : engine_ranges) read_range(one);
    for (const EngineFlag& one : engine_flags) read_flag(one);
    for (const EngineCount& one : engine_counts) read_count(one);
    read_prefill();
    table_.reject_unknown_keys([](std::string_view /*key*/, std::int64_t /*line*/) { return false; });
    if (table_.sound()) check_chunks();
    return std::move(engine_);
  }

 private:
  std::string text(std::string_view key, std::string why) {
    const toml::node* node = table_.take(key);
    if (node == nullptr) {
      table_.reject_missing(key, std::move(why));
      return "";
    }
    if (auto value = node->value_exact<std::string>(); value && !value->empty()) return *std::move(value);
    table_.reject_type(key, *node, "a nonempty string");
    return "";
  }

  void read_names() {
    const toml::node* node = table_.take("aliases");
    if (node == nullptr) return;
    const toml::array* list = node->as_array();
    if (list == nullptr) return table_.reject_type("aliases", *node, "a list of strings");
    for (const toml::node& entry : *list) {
      const auto alias = entry.value_exact<std::string>();
      if (!alias || plain_name(*alias).empty()) return table_.reject_type("aliases", entry, "a nonempty string");
      engine_.aliases.push_back(*alias);
    }
  }

  /// Nullopt, after a problem, for what is no number or out of range.
  std::optional<double> number(const EngineRange& one, const toml::node* node) {
    if (node == nullptr || !node->is_number()) {
      table_.reject(table_.line_at(one.key), one.key, "invalid range",
                    "must be a number, or {low, value, high} of numbers");
      return std::nullopt;
    }
    const auto* whole = node->as_integer();  // value<double>() returns nothing for an integer that a double would round
    const double value = whole != nullptr ? static_cast<double>(whole->get()) : node->as_floating_point()->get();
    if (value >= one.least && value <= max_engine_us) return value;
    table_.reject(line_of(node->source()), one.key, fmt::format("{} is out of range", value),
                  fmt::format("must be {} to {}", one.least, max_engine_us));
    return std::nullopt;
  }

  void read_range(const EngineRange& one) {
    const toml::node* node = table_.take(one.key);
    if (node == nullptr) return;
    const toml::table* ends = node->as_table();
    const auto end = [&](std::string_view key) { return number(one, ends == nullptr ? node : ends->get(key)); };
    const auto low = end("low");
    if (!low) return;
    const auto value = end("value");
    const auto high = end("high");
    if (!value || !high) return;
    if (!(*low <= *value && *value <= *high) || (ends != nullptr && ends->size() != 3)) {
      return table_.reject(line_of(node->source()), one.key, "invalid range",
                           "must be low, value and high, in ascending order");
    }
    engine_.*one.range = {*low, *value, *high};
  }

  void read_flag(const EngineFlag& one) {
    const toml::node* node = table_.take(one.key);
    if (node == nullptr) return;
    const auto value = node->value_exact<bool>();
    if (!value) return table_.reject_type(one.key, *node, "true or false");
    engine_.*one.flag = *value;
  }

  void read_count(const EngineCount& one) {
    const toml::node* node = table_.take(one.key);
    if (node == nullptr) return;
    const auto value = node->value_exact<std::int64_t>();
    if (!value) return table_.reject_type(one.key, *node, "an integer");
    if (*value < one.least || *value > max_engine_count) {
      return table_.reject(line_of(node->source()), one.key, fmt::format("{} is out of range", *value),
                           fmt::format("must be {} to {}", one.least, max_engine_count));
    }
    engine_.*one.count = *value;
  }

  void read_prefill() {
    const toml::node* node = table_.take("prefill");
    if (node == nullptr) return;
    const auto word = node->value_exact<std::string>();
    const auto* found = std::ranges::find(prefill_words, word.value_or(""), &PrefillWord::word);
    if (found == prefill_words.end()) {
      return table_.reject(line_of(node->source()), "prefill", "invalid value", R"(must be "alone" or "chunked")");
    }
    engine_.prefill = found->prefill;
  }

  void check_chunks() {
    if (engine_.prefill == Prefill::chunked && engine_.pass_tokens == 0) {
      table_.reject_missing("pass_tokens", "chunked prefill needs the most tokens of a pass");
    }
  }

  TomlTable table_;
  Engine engine_;
};

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

std::string_view prefill_word(Prefill prefill) {
  return std::ranges::find(prefill_words, prefill, &PrefillWord::prefill)->word;
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
  const auto quoted = [](const std::string& text) {
    std::ostringstream out;
    out << toml::toml_formatter(toml::value(text), toml::format_flags::none);
    return out.str();
  };
  std::string text = fmt::format("[\"{}\"]\nsummary = {}\n", engine.name, quoted(engine.summary));
  auto out = std::back_inserter(text);
  if (!engine.aliases.empty()) {
    fmt::format_to(out, "aliases = [");
    for (const std::string& alias : engine.aliases) {
      fmt::format_to(out, "{}{}", &alias == &engine.aliases.front() ? "" : ", ", quoted(alias));
    }
    fmt::format_to(out, "]\n");
  }
  for (const EngineFlag& one : engine_flags) fmt::format_to(out, "{} = {}\n", one.key, engine.*one.flag);
  fmt::format_to(out, "prefill = \"{}\"\n", prefill_word(engine.prefill));
  for (const EngineCount& one : engine_counts) fmt::format_to(out, "{} = {}\n", one.key, engine.*one.count);
  for (const EngineRange& one : engine_ranges) {
    const Range& range = engine.*one.range;
    fmt::format_to(out, "{} = {{ low = {}, value = {}, high = {} }}\n", one.key, range.low, range.value, range.high);
  }
  fmt::format_to(out, "source = {}\n", quoted(engine.source));
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
