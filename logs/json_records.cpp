// SPDX-License-Identifier: Apache-2.0
#include "logs/json_records.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "logs/arm_headings.hpp"
#include "logs/arms.hpp"
#include "logs/headings.hpp"
#include "logs/table_shapes.hpp"

namespace foredraft::logs {
namespace {

/// Limits beyond which values are left out: levels of objects and lists, keys of a run, bytes of a cell.
constexpr std::size_t max_depth = 6;
constexpr std::size_t max_keys = 64;
constexpr std::size_t max_cell = 200;

/// Headings and cells, in their order.
using Cells = std::vector<std::pair<std::string, std::string>>;

bool says_measure(const std::string& heading) { return is_measure(heading) || arm_heading_of(heading); }

bool is_list_of_scalars(const JsonValue& value) {
  return value.is_array() && std::ranges::none_of(value, [](const JsonValue& one) { return one.is_structured(); });
}

/// Whether keys are those of tokens and of the time that they took.
bool are_timed_tokens(const std::vector<std::string>& keys) {
  const auto are_tokens = [](const std::string& key) { return column_of(key).meaning == Meaning::output_tokens; };
  return std::ranges::any_of(keys, are_tokens) && std::ranges::any_of(keys, names_time_of_tokens);
}

bool has_measure(const JsonValue& value, std::size_t depth = 0) {
  std::vector<std::string> keys;
  for (const JsonValue& one : value) {
    if (one.is_structured() ? depth + 1 < max_depth && has_measure(one, depth + 1)
                            : says_measure(one.key()) && !one.is_null())
      return true;
    if (one.is_number()) keys.push_back(one.key());
  }
  return are_timed_tokens(keys);
}

void add(Cells& cells, std::string heading, std::string cell) {
  const bool known = std::ranges::find(cells, heading, &Cells::value_type::first) != cells.end();
  if (!known && cell.size() <= max_cell && cells.size() < max_keys)
    cells.emplace_back(std::move(heading), std::move(cell));
}

/// Adds the members of an object that are no objects, and no lists but those of positions. `speculation`: it is the
/// setting of that, whose model is the drafter's.
void add_members(const JsonValue& object, bool speculation, Cells& cells) {
  static const RE2 method("(?:spec|speculat\\w*|draft|drafter)(?:_?(?:config|decod\\w*|method|model))?");
  for (const JsonValue& member : object) {
    const std::string key = member.key();
    if (is_list_of_scalars(member) && column_of(key).meaning == Meaning::positions) {
      std::string list;
      for (const JsonValue& share : member)
        list += (list.empty() ? "" : " / ") + std::string(share.source().substr(0, 9));
      add(cells, key, std::move(list));
    } else if (member.is_null() && RE2::FullMatch(key, method)) {
      add(cells, "method", "none");
    } else if (!member.is_structured() && !member.is_null()) {
      add(cells, speculation && key == "model" ? "draft_model" : key,
          member.is_string() ? member.string() : std::string(member.source()));
    }
  }
}

std::string name_in(const Cells& cells) {
  const auto is_name = [](const auto& one) { return column_of(one.first).meaning == Meaning::name; };
  const auto found = std::ranges::find_if(cells, is_name);
  return found == cells.end() ? std::string() : found->second;
}

/// Whether two objects measure the same: they are two runs, and not two parts of one.
bool measure_the_same(const std::vector<const JsonValue*>& objects) {
  std::set<std::string> keys;
  for (const JsonValue* object : objects) {
    for (const JsonValue& member : *object)
      if (says_measure(member.key()) && !keys.insert(member.key()).second) return true;
  }
  return false;
}

class RecordsReader {
 public:
  RecordsReader(const JsonValue& value, std::int64_t line, std::size_t most)
      : counted_to_(value.source().data()), line_(line), most_(most) {}

  /// `around`: what the objects around the value say of its runs; `name`: by keys.
  void read(const JsonValue& value, const Cells& around, const std::string& name, std::size_t depth);

  std::vector<JsonRecord> records = {};

 private:
  void keep(const JsonValue& at, Cells cells, const Cells& around, const std::string& name);

  const char* counted_to_;  ///< where line `line_` is
  std::int64_t line_;
  std::size_t most_;
};

/// Keeps a run with what is around it, but no name of another, nor a draft length if it drafts nothing.
void RecordsReader::keep(const JsonValue& at, Cells cells, const Cells& around, const std::string& name) {
  std::vector<std::string> keys;
  for (const auto& [heading, cell] : cells) keys.push_back(heading);
  if (!(std::ranges::any_of(keys, says_measure) || are_timed_tokens(keys)) || records.size() == most_) return;
  if (!name.empty() && name_in(cells).empty()) cells.insert(cells.begin(), {"name", name});
  const std::string own = name_in(cells);
  for (const auto& [heading, cell] : around) {
    const Meaning meaning = column_of(heading).meaning;
    const bool of_others =
        (meaning == Meaning::name && !own.empty()) || (meaning == Meaning::gamma && arm_named(own).plain);
    if (!of_others) add(cells, heading, cell);
  }
  line_ += std::count(counted_to_, at.source().data(), '\n');
  counted_to_ = at.source().data();
  JsonRecord& record = records.emplace_back(JsonRecord{.line = line_});
  for (auto& [heading, cell] : cells) {
    record.headings.push_back(std::move(heading));
    record.cells.push_back(std::move(cell));
  }
}

/// Adds what was measured around the only run of an object: ik_llama.cpp counts drafts in a list of stages, and times
/// the attempt around it. Of several runs, each could have a part.
void add_measures(const Cells& around, JsonRecord& run) {
  for (const auto& [heading, cell] : around) {
    if (is_measure(heading) && run.headings.size() < max_keys &&
        std::ranges::find(run.headings, heading) == run.headings.end()) {
      run.headings.push_back(heading);
      run.cells.push_back(cell);
    }
  }
}

void RecordsReader::read(const JsonValue& value, const Cells& around, const std::string& name, std::size_t depth) {
  if (depth == max_depth) return;
  if (!value.is_object()) {
    for (const JsonValue& member : value)
      if (member.is_structured()) read(member, around, name, depth + 1);
    return;
  }
  Cells own;
  std::vector<const JsonValue*> arms, parts, others;  // objects of arms; of measures; lists, or objects of objects
  add_members(value, false, own);
  for (const JsonValue& member : value) {
    if (!member.is_structured() || is_list_of_scalars(member)) continue;
    const bool flat = member.is_object() && std::ranges::none_of(member, [](const JsonValue& one) {
                        return one.is_structured() && !is_list_of_scalars(one);
                      });
    if (!has_measure(member)) {
      if (flat) add_members(member, member.key().starts_with("spec"), own);
    } else if (is_arm(member.key())) {
      arms.push_back(&member);
    } else {
      (flat ? parts : others).push_back(&member);
    }
  }
  const bool runs = measure_the_same(parts);
  if (!runs) {
    for (const JsonValue* part : parts) add_members(*part, false, own);
    parts.clear();
  }
  if (arms.empty() && parts.empty() && others.empty()) return keep(value, std::move(own), around, name);
  const std::size_t before = records.size();
  Cells inner = around;
  for (const auto& [heading, cell] : own) {
    const Meaning meaning = column_of(heading).meaning;
    if (meaning != Meaning::ignored && !says_measure(heading)) add(inner, heading, cell);
  }
  const bool plain_beside = arms.size() == 1 && arm_named(arms.front()->key()).plain && others.empty() && parts.empty();
  if (plain_beside) keep(value, own, around, name);
  const auto read_named = [&](const JsonValue& one) {
    read(one, inner, name.empty() ? one.key() : name + " " + one.key(), depth + 1);
  };
  for (const JsonValue& member : value) {
    const auto is_it = [&](const JsonValue* one) { return one == &member; };
    if (std::ranges::any_of(arms, is_it) || std::ranges::any_of(parts, is_it)) {
      read_named(member);
    } else if (std::ranges::any_of(others, is_it)) {
      member.is_object() && others.size() > 1 ? read_named(member) : read(member, inner, name, depth + 1);
    }
  }
  if (arms.empty() && records.size() == before + 1) add_measures(own, records.back());
}

}  // namespace

std::vector<JsonRecord> records_in(const JsonValue& value, std::int64_t line, std::size_t most,
                                   const std::string& name) {
  RecordsReader reader(value, line, most);
  reader.read(value, {}, name, 0);
  return std::move(reader.records);
}

}  // namespace foredraft::logs
