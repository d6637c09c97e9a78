// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/declaration.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "inputs/table_reader.hpp"

namespace foredraft::experiments {
namespace {

/// In the order of `reproduce --all`.
constexpr std::array<std::string_view, 7> declared_papers{"leviathan", "emnlp",  "iclr",   "checks",
                                                          "wagner",    "survey", "methods"};

std::vector<std::string> list_of_texts(const scenario::Array& nodes) {
  std::vector<std::string> texts;
  for (const scenario::Node& node : nodes) texts.push_back(std::get<std::string>(node.value));
  return texts;
}

RowFilter rows_where(const scenario::Mapping& declared) {
  RowFilter rows;
  for (const auto& [column, text] : declared) rows.emplace_back(column, std::get<std::string>(text.value));
  return rows;
}

using Texts = std::map<std::string_view, std::string*>;

CellRule cell_rule(const scenario::Mapping& declared) {
  CellRule rule;
  const Texts texts{{"ours", &rule.ours}, {"note", &rule.note}, {"finding", &rule.finding}, {"if", &rule.only_if}};
  for (const auto& [key, node] : declared) {
    if (key == "columns") rule.columns = list_of_texts(std::get<scenario::Array>(node.value));
    if (key == "of") rule.of = list_of_texts(std::get<scenario::Array>(node.value));
    if (key == "where") rule.where = rows_where(std::get<scenario::Mapping>(node.value));
    if (key == "kind") rule.kind = kind_named(std::get<std::string>(node.value));
    if (key == "rounded") rule.rounded = std::get<bool>(node.value);
    if (const auto text = texts.find(key); text != texts.end()) *text->second = std::get<std::string>(node.value);
  }
  return rule;
}

TextAfter text_after(const scenario::Mapping& declared) {
  TextAfter after;
  const Texts texts{{"about", &after.about}, {"column", &after.column}, {"ours", &after.ours}, {"text", &after.text}};
  for (const auto& [key, node] : declared) {
    if (key == "where") after.where = rows_where(std::get<scenario::Mapping>(node.value));
    if (const auto text = texts.find(key); text != texts.end()) *text->second = std::get<std::string>(node.value);
  }
  return after;
}

const Declaration& declared_as(const std::vector<Declaration>& all, std::string_view id) {
  const auto found =
      std::find_if(all.begin(), all.end(), [id](const Declaration& declared) { return declared.id() == id; });
  if (found == all.end()) throw std::logic_error(fmt::format("no experiment {}", id));
  return *found;
}

}  // namespace

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
    } else if (key == "let") {
      for (const auto& [name, formula] : std::get<scenario::Mapping>(node.value)) {
        names_[name] = std::get<std::string>(formula.value);
      }
    } else if (const auto* part = std::get_if<scenario::Mapping>(&node.value)) {
      parts_.insert_or_assign(key, Declaration(fmt::format("{}-{}", id_, key), *part));
    } else if (key == "cells") {
      for (const scenario::Node& rule : std::get<scenario::Array>(node.value)) {
        rules_.push_back(cell_rule(std::get<scenario::Mapping>(rule.value)));
      }
    } else if (key == "after") {
      for (const scenario::Node& said : std::get<scenario::Array>(node.value)) {
        after_.push_back(text_after(std::get<scenario::Mapping>(said.value)));
      }
    } else {
      lists_[key] = list_of_texts(std::get<scenario::Array>(node.value));
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

const std::string& Declaration::text(std::string_view key) const {
  const auto found = texts_.find(key);
  if (found == texts_.end()) throw std::logic_error(fmt::format("{}: no {} is declared", id_, key));
  return found->second;
}

Table Declaration::table(std::string caption) const {
  Table table{.caption = std::move(caption), .columns = {}, .rows = {}};
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
      for (const EmbeddedFile& file : declaration_files()) {
        if (file.name != paper) continue;
        for (const auto& [id, node] : inputs::parse_toml(file.text, fmt::format("{}.toml", paper))) {
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
