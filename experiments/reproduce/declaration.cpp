// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/declaration.hpp"

#include <fmt/args.h>
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <stdexcept>

#include "experiments/config/table_reader.hpp"

namespace foredraft::experiments {
namespace {

/// In the order of `reproduce --all`.
constexpr std::array<std::string_view, 6> declared_papers{"leviathan", "emnlp", "iclr", "checks", "wagner", "survey"};

std::vector<std::string> texts_of(const scenario::Array& nodes) {
  std::vector<std::string> texts;
  for (const scenario::Node& node : nodes) texts.push_back(std::get<std::string>(node.value));
  return texts;
}

CellRule rule_of_cells(const scenario::Mapping& declared) {
  CellRule rule{.columns = {}, .where = {}, .kind = Kind::input, .note = {}, .finding = {}, .ours = {}};
  for (const auto& [key, node] : declared) {
    if (key == "columns") {
      rule.columns = texts_of(std::get<scenario::Array>(node.value));
    } else if (key == "where") {
      for (const auto& [column, text] : std::get<scenario::Mapping>(node.value)) {
        rule.where.emplace_back(column, std::get<std::string>(text.value));
      }
    } else if (key == "ours") {
      rule.ours = std::get<double>(node.value);
    } else {
      const auto& text = std::get<std::string>(node.value);
      if (key == "kind") rule.kind = kind_named(text);
      if (key == "note") rule.note = text;
      if (key == "finding") rule.finding = text;
    }
  }
  return rule;
}

const Declaration& declared_as(const std::vector<Declaration>& all, std::string_view id) {
  const auto found =
      std::find_if(all.begin(), all.end(), [id](const Declaration& declared) { return declared.id() == id; });
  if (found == all.end()) throw std::logic_error(fmt::format("no experiment {}", id));
  return *found;
}

}  // namespace

std::string filled(const std::string& text, const Fillings& fillings,
                   const std::map<std::string, Filling::Value>& named) {
  fmt::dynamic_format_arg_store<fmt::format_context> places;
  for (const Filling& filling : fillings) {
    for (const Filling::Value& value : filling.values()) {
      std::visit([&](const auto& plain) { places.push_back(plain); }, value);
    }
  }
  for (const auto& [name, value] : named) {
    std::visit([&, &called = name](const auto& plain) { places.push_back(fmt::arg(called.c_str(), plain)); }, value);
  }
  return fmt::vformat(text, places);
}

Declaration::Declaration(std::string id, const scenario::Mapping& declared, const std::vector<Declaration>& before) {
  for (const auto& [key, node] : declared) {
    if (key == "like") *this = declared_as(before, std::get<std::string>(node.value));
  }
  id_ = std::move(id);
  for (const auto& [key, node] : declared) {
    if (const auto* text = std::get_if<std::string>(&node.value)) {
      texts_[key] = *text;
    } else if (const auto* flag = std::get_if<bool>(&node.value)) {
      has_figure_ = *flag;
    } else if (const auto* part = std::get_if<scenario::Mapping>(&node.value)) {
      parts_.insert_or_assign(key, Declaration(fmt::format("{}-{}", id_, key), *part));
    } else if (key == "cells") {
      for (const scenario::Node& rule : std::get<scenario::Array>(node.value)) {
        rules_.push_back(rule_of_cells(std::get<scenario::Mapping>(rule.value)));
      }
    } else {
      lists_[key] = texts_of(std::get<scenario::Array>(node.value));
    }
  }
}

std::string Declaration::published() const {
  if (has("published")) return text("published");
  std::string stem = id_;
  std::replace(stem.begin(), stem.end(), '-', '_');
  return stem;
}

const CellRule* Declaration::rule(const PublishedTable& table, std::size_t row, std::string_view column) const {
  const auto found = std::find_if(rules_.rbegin(), rules_.rend(), [&](const CellRule& rule) {
    return std::find(rule.columns.begin(), rule.columns.end(), column) != rule.columns.end() &&
           table.holds(row, rule.where);
  });
  return found == rules_.rend() ? nullptr : &*found;
}

std::string Declaration::text(std::string_view key, const Fillings& fillings) const {
  const auto found = texts_.find(key);
  if (found == texts_.end()) throw std::logic_error(fmt::format("{}: no {} is declared", id_, key));
  return filled(found->second, fillings);
}

Table Declaration::table(const Fillings& caption) const {
  Table table;
  if (!has("columns")) return table;
  table.caption = text("caption", caption);
  for (const std::string& column : list("columns")) {
    const bool left = column.starts_with('<');
    table.columns.push_back({column.substr(left ? 1 : 0), left ? Table::Align::left : Table::Align::right});
  }
  return table;
}

std::vector<std::string> Declaration::list(std::string_view key) const {
  const auto found = lists_.find(key);
  return found == lists_.end() ? std::vector<std::string>() : found->second;
}

const std::vector<Declaration>& declarations() {
  static const std::vector<Declaration> all = [] {
    std::vector<Declaration> declared;
    for (const std::string_view paper : declared_papers) {
      for (const PublishedFile& file : declaration_files()) {
        if (file.name != paper) continue;
        for (const auto& [id, node] : parse_toml(file.content, fmt::format("{}.toml", paper))) {
          declared.push_back({id, std::get<scenario::Mapping>(node.value), declared});
        }
      }
    }
    return declared;
  }();
  return all;
}

const Declaration& declaration(std::string_view id) { return declared_as(declarations(), id); }

}  // namespace foredraft::experiments
