// SPDX-License-Identifier: Apache-2.0
#include "logs/log_reader.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/documents.hpp"
#include "foredraft/errors.hpp"
#include "logs/json_values.hpp"
#include "logs/record_fields.hpp"
#include "tests/logs/logs_testing.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::tests {
namespace {

using logs::LogContents;
using logs::LogFormat;
using logs::LogReader;

void note(LogContents& contents, std::int64_t line, std::string what) {
  contents.observations.push_back({.line = line, .stratum = {.category = std::move(what)}});
}

/// Converts to a type that can be printed.
nlohmann::ordered_json written(const logs::JsonValue& value) {
  if (value.is_null()) return nullptr;
  if (value.is_boolean()) return value.is_true();
  if (value.is_integer()) return static_cast<std::int64_t>(value.number());
  if (value.is_number()) return value.number();
  if (value.is_string()) return value.string();
  auto members = value.is_array() ? nlohmann::ordered_json::array() : nlohmann::ordered_json::object();
  for (const logs::JsonValue& member : value) {
    if (value.is_array()) {
      members.push_back(written(member));
    } else {
      members[member.key()] = written(member);
    }
  }
  return members;
}

/// Takes every line that it is given, and rejects lines with "refused".
class Marks final : public logs::LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    if (text.find("refused") != std::string_view::npos) logs::reject({.line = number, .key = "mark", .text = "bad"});
    note(contents, number, std::string(text));
    return true;
  }
  void finish(LogContents& contents) override { contents.version += "finished "; }
};

std::span<const LogFormat> test_formats() {
  static const std::vector<LogFormat> all = {
      {.name = "marks",
       .summary = "",
       .engine = "one",
       .reads = logs::LineFormat{.anchor = "mark", .open = [] { return std::make_unique<Marks>(); }}},
      {.name = "others",
       .summary = "",
       .engine = "two",
       .reads = logs::LineFormat{.anchor = "other", .open = [] { return std::make_unique<Marks>(); }}},
      {.name = "values",
       .summary = "",
       .engine = "",
       .reads = logs::JsonFormat{
           .anchor = "a|\\[",
           .claims = [](const auto& value) { return value.is_array() || value.contains("a"); },
           .read =
               [](const auto& value, std::int64_t line, LogContents& contents) {
                 if (value.contains("bad")) {
                   throw logs::RejectedRecord({{.key = "a", .text = "bad"}, {.line = line, .key = "b", .text = "bad"}});
                 }
                 note(contents, line, written(value).dump());
               }}},
      {.name = "rows",
       .summary = "",
       .engine = "",
       .reads = logs::CsvFormat{.anchor = "^k",
                                .claims =
                                    [](auto columns) {
                                      if (columns.back() == "bad") logs::reject({.key = "bad", .text = "no column"});
                                      return columns.front() == "k";
                                    },
                                .row =
                                    [](const logs::CsvFields& row, LogContents& contents) {
                                      std::string text;
                                      for (const std::string& name : row.columns())
                                        text += row.text(name).value_or("") + "|";
                                      note(contents, row.line(), text);
                                    }}},
  };
  return all;
}

LogContents read(std::string_view text, std::size_t piece = std::string_view::npos) {
  LogReader reader("some.log", "", test_formats());
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) reader.add(text.substr(0, piece));
  return reader.finish();
}

std::string found(const LogContents& contents) {
  std::string all;
  for (const auto& observation : contents.observations) {
    all += std::to_string(observation.line) + " " + observation.stratum.category.value_or("") + "\n";
  }
  return all;
}

std::string error_of(std::string_view text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return brief(error.what());
  }
  return {};
}

const std::string mixed =
    "\xEF\xBB\xBFtext\n\x1b[1;31ma\x1b[0m mark\r\n{\"a\": 1}\n  {\"a\":\n [\"}\", 2]}\n{\"b\": \"mark\"}\n{not json\n"
    "k,l,m\n1,\"2,\"\"3\"\"\",4\n5,6,7\n8,9\n{'a': True, 'it\\'s': None}\n[\n[1]]\nold\rnew mark\nlast mark";

}  // namespace

TEST_CASE("logs split at any byte are read as in one piece") {
  const std::string whole = found(read(mixed));
  CHECK(whole ==
        "2 a mark\n3 {\"a\":1}\n4 {\"a\":[\"}\",2]}\n6 {\"b\": \"mark\"}\n9 1|2,\"3\"|4|\n10 5|6|7|\n"
        "12 {\"a\":true,\"it's\":null}\n13 [[1]]\n15 new mark\n16 last mark\n");
  CHECK(read(mixed).lines == 16);
  for (std::size_t piece = 1; piece < mixed.size(); ++piece) {
    INFO(piece);
    REQUIRE(found(read(mixed, piece)) == whole);
    REQUIRE(read(mixed, piece).lines == 16);
  }
}

TEST_CASE("words before a value that is not read are those of a line, wherever the log is split") {
  const std::string text = "said: {\"a\": [\n1]}\nsome mark of: {\"b\":\n 2}\nend mark\n";
  CHECK(found(read(text)) == "1 {\"a\":[1]}\n3 some mark of: {\"b\":\n5 end mark\n");
  std::string before;  // more than is kept to see how lines are wrapped
  while (before.size() < std::size_t{1} << 17U) before += "text\n";
  const std::string whole = found(read(before + text));
  for (std::size_t at = 1; at < text.size(); ++at) {
    INFO(at);
    LogReader reader("some.log", "", test_formats());
    for (const std::string& part : {before, text.substr(0, at), text.substr(at)}) reader.add(part);
    REQUIRE(found(reader.finish()) == whole);
  }
}

TEST_CASE("a log names every format that was found in it, and its engine") {
  const LogContents contents = read(mixed);
  CHECK(contents.format == "marks values rows");
  CHECK(contents.engine == "one");
}

TEST_CASE("a format without a line in the log does not change the results of others") {
  CHECK(read("mark\nmark\n").version == "finished ");
  CHECK(read("{\"a\": 1}\n").version.empty());
}

TEST_CASE("lines of two engines in one log are rejected with the line") {
  CHECK(error_of("mark\ntext\nother\n") == "some.log:3: a line of two after lines of one");
}

TEST_CASE("everything that formats reject is reported at once with file and line") {
  CHECK(error_of("text\nmark refused\nmark\n{\"bad\": 1, \"a\": 2}\nk,l,bad\n1,2,3\nmark refused\n") ==
        "some.log:2: mark: bad\nsome.log:4: a: bad\nsome.log:4: b: bad\nsome.log:5: bad: no column\n"
        "some.log:7: mark: bad");
  CHECK(error_of("mark refused\nother\n").starts_with("some.log:1: mark: bad\nsome.log:2: a line of two"));
}

TEST_CASE("a log of rejected lines is read only until the maximum number of errors") {
  std::string text;
  for (std::size_t i = 0; i < 2 * max_problems; ++i) text += "mark refused\n";
  const std::string all = error_of(text);
  CHECK(std::count(all.begin(), all.end(), '\n') + 1 == static_cast<std::ptrdiff_t>(max_problems));
  CHECK(all.ends_with("some.log:100: mark: bad"));
}

TEST_CASE("a file without a known line is rejected, and the error says what lists the formats") {
  CHECK(error_of("text\n") == "some.log: no line of a known format");
  CHECK(error_of("") == "some.log: the file is empty");
  CHECK(error_of(std::string_view("\0\1\2", 3)) == "some.log: binary, not text");
  LogReader reader("some.log", "rows", test_formats());
  reader.add("mark\n");
  CHECK_THROWS_WITH(reader.finish(), Catch::StartsWith("some.log: no line of the format rows") &&
                                         Catch::Contains("`foredraft list formats`"));
}

TEST_CASE("bytes that are not text do not hide the lines around them") {
  CHECK(found(read(std::string("\0\xff\n\x80 mark\n\0", 11))) == "2 \x80 mark\n");
}

TEST_CASE("an unknown format is rejected, and a format that is given is the only one read") {
  CHECK_THROWS_WITH(LogReader("some.log", "mark", test_formats()), Catch::Contains("mean marks?"));
  CHECK_THROWS_MATCHES(LogReader("some.log", "table", test_formats()), InputError,
                       Says("some.log: format: \"table\" is no known format"));
  LogReader reader("some.log", "rows", test_formats());
  reader.add(mixed);
  CHECK(found(reader.finish()) == "9 1|2,\"3\"|4|\n10 5|6|7|\n");
}

TEST_CASE("lines beyond the limit are skipped and counted, except a JSON value on one line") {
  const std::string long_line(max_line_bytes + 10, 'x');
  const LogContents contents = read(long_line + " mark\n{\"a\": \"" + long_line + "\"}\nmark\n" + long_line);
  CHECK(contents.skipped_lines == 2);
  REQUIRE(contents.observations.size() == 2);
  CHECK(contents.observations[0].line == 2);
  CHECK(contents.observations[1].line == 3);
  CHECK(contents.lines == 4);
}

TEST_CASE("an input that no format recognizes ends at the limit") {
  const auto endless = [](const std::string& start, const std::string& text) {
    LogReader reader("some.log", "", test_formats());
    reader.add(start);
    for (std::size_t added = 0; added <= logs::max_unrecognized_bytes - text.size(); added += text.size()) {
      reader.add(text);
    }
    CHECK_THROWS_WITH(reader.add(text), Catch::Contains("more than 512 MiB without a line of a known format"));
  };
  const std::size_t mebibyte = std::size_t{1} << 20U;
  endless("mark\n", std::string(mebibyte, '\0'));
  endless("", "[" + std::string(mebibyte - 1, '1'));
}

TEST_CASE("a line that a format recognizes restarts the count of unrecognized bytes") {
  LogReader reader("some.log", "", test_formats());
  const std::string dull(logs::max_unrecognized_bytes / 2 + 1000, 'x');
  for (int i = 0; i < 3; ++i) {
    reader.add(dull);
    reader.add("\nmark\n");
  }
  CHECK(reader.finish().observations.size() == 3);
}

TEST_CASE("a byte order mark is not part of the first line") {
  CHECK(found(read("\xEF\xBB\xBF{\"a\": 1}\n")) == "1 {\"a\":1}\n");
}

TEST_CASE("a bracket that is never closed hides nothing after it") {
  CHECK(found(read("{\nmark\n")) == "2 mark\n");
  CHECK(found(read("{\"a\": [1,\n2,\nmark\n")) == "3 mark\n");
  CHECK(found(read("{\"a\": 1\n{\"a\": 2}\n")) == "2 {\"a\":2}\n");
  CHECK(found(read("{\"a\": \"open\nmark\n")) == "2 mark\n");
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "{\n";
  CHECK(found(read(deep + "mark\n")) == "201 mark\n");
}

TEST_CASE("observations that can be pooled have a maximum number for logs of any length") {
  class Windows final : public logs::LineReader {
   public:
    bool line(std::string_view /*text*/, std::int64_t number, LogContents& contents) override {
      // Two engines alternate.
      contents.observations.push_back(
          {.line = number, .acceptance = logs::AcceptanceCounts{.steps = 3}, .requests = number % 2 == 0 ? 1.0 : 4.0});
      return true;
    }
    void finish(LogContents& /*contents*/) override {}
  };
  const std::vector<LogFormat> windows = {
      {.name = "windows", .summary = "", .engine = "", .reads = logs::LineFormat{.anchor = "w", .open = [] {
                                                                                   return std::make_unique<Windows>();
                                                                                 }}}};
  constexpr std::int64_t lines = 3 * static_cast<std::int64_t>(logs::max_observations);
  LogReader reader("some.log", "", windows);
  for (std::int64_t i = 0; i < lines; ++i) reader.add("w\n");
  const LogContents contents = reader.finish();
  CHECK(contents.observations.size() <= logs::max_observations);
  std::int64_t steps = 0;
  for (const auto& observation : contents.observations) steps += observation.acceptance->steps;
  CHECK(steps == 3 * lines);
}

}  // namespace foredraft::tests
