// SPDX-License-Identifier: Apache-2.0
#include "core/documents.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace foredraft {
namespace {

using Json = nlohmann::ordered_json;

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

std::string toml_problem(const std::string& text) {
  ProblemList problems("f");
  const bool fine = check_toml_limits(text, problems);
  CHECK(fine == problems.empty());
  return problems.text();
}

std::string json_problem(const std::string& text) {
  ProblemList problems("f");
  const Json json = parse_json(text, problems);
  CHECK(json.is_discarded() == !problems.empty());
  return problems.text();
}

const std::string too_deep = "nested deeper than 64 levels (nested tables and lists) - remove levels";

}  // namespace

TEST_CASE("dotted keys, headers and brackets of TOML add up to one depth, and their content does not count") {
  CHECK(toml_problem(repeated("a.", 64) + "a = 1").empty());
  CHECK(toml_problem("# 1\n" + repeated("a.", 65) + "a = 1") == "f:2: " + too_deep);
  CHECK(toml_problem("a = " + repeated("[", 64) + repeated("]", 64)).empty());
  CHECK(toml_problem("a = " + repeated("[\n", 65) + repeated("]", 65)) == "f:65: " + too_deep);
  CHECK(toml_problem("[" + repeated("a.", 63) + "a]\nb = 1").empty());
  CHECK(toml_problem("[" + repeated("a.", 64) + "a]\nb = 1") == "f:1: " + too_deep);
  // 22 of the header, 21 of the key, an inline table, 20 of its second key, a list: 65, and one less.
  const auto mixed = [](std::size_t dots) {
    return "[[" + repeated("a.", 20) + "a]]\n" + repeated("b.", 21) + "b = { x = [[1]], " + repeated("c . ", dots) +
           "c = [1.5] }\n";
  };
  CHECK(toml_problem(mixed(19)).empty());
  CHECK(toml_problem(mixed(20)) == "f:2: " + too_deep);
  // Neither numbers nor neighbors nest.
  CHECK(toml_problem("a = [" + repeated("1.5, [2.5], {x.y = 3.5}, ", 200) + "]\n").empty());
  CHECK(toml_problem(repeated("[a.b]\nc.d = 1.5\n", 200)).empty());
}

TEST_CASE("brackets and dots in strings and comments of TOML do not count, and those after them do") {
  const std::string brackets = repeated("[", 100) + repeated("a.", 100);
  for (const std::string& text :
       {"\"" + brackets + "\\\"" + brackets + "\"", "'" + brackets + "'", "\"\"\"\n" + brackets + "\n\"x\\\"\"\"\"",
        "'''" + brackets + "\n''" + brackets + "'''", std::string("\"\""), std::string("''"),
        std::string("\"\"\"\"\"\""), std::string("\"\"\"x\"\"\"\"\""), std::string("'''x'''''"),
        std::string("'''x''''"), std::string("\"\"\"x\"\"\"\""), std::string("\"\"\"\"\"x\"\"\"")}) {
    CAPTURE(text);
    CHECK(toml_problem("a = " + text + " # " + brackets + " \"\n" + "b = 1\n").empty());
    CHECK(toml_problem("a = [" + text + ", " + repeated("[", 64) + repeated("]", 65)).find(too_deep) !=
          std::string::npos);
    if (text.starts_with("\"\"\"") || text.starts_with("'''")) continue;
    CHECK(toml_problem(text + ".b = 1\n").empty());
    CHECK(toml_problem(text + repeated(".b", 65) + " = 1\n").find(too_deep) != std::string::npos);
  }
}

TEST_CASE("quotes in a row are strings of three quotes before and five after, as fast in 4 MiB as in 80 bytes") {
  // A search to the end of the quotes for each string would be 10^12 steps, a quarter of an hour.
  const std::string brackets = repeated("[", 65);
  for (const char quote : {'"', '\''}) {
    for (const std::size_t strings : {std::size_t{10}, max_toml_bytes / 8 - 20}) {
      CAPTURE(quote, strings);
      const std::string whole(8 * strings, quote);
      CHECK(toml_problem(whole + brackets) == "f:1: " + too_deep);
      CHECK(toml_problem(whole + quote + brackets).empty());
      CHECK(toml_problem(whole + quote + quote + brackets) == "f:1: " + too_deep);
      CHECK(toml_problem(whole + quote + quote + quote + brackets).empty());
    }
  }
}

TEST_CASE("JSON is read down to 64 levels and up to 256 keys of an object, and the line of any excess is named") {
  CHECK(json_problem(repeated("[", 64) + repeated("]", 64)).empty());
  CHECK(json_problem(repeated("[\n", 65) + repeated("]", 65)) == "f:65: " + too_deep);
  CHECK(json_problem(repeated("{\"a\":[", 50000)) == "f:1: " + too_deep);
  CHECK(json_problem("[\"" + repeated("[", 100) + "\\\"" + repeated("{", 100) + "\"" + repeated(",[{}]", 100) + "]")
            .empty());
  const auto object = [](int keys) {
    std::string text = "{\"a:\": [{}";
    for (int i = 1; i < keys; ++i) text += ",{\"b\":1}";
    text += "]";
    for (int i = 1; i < keys; ++i) text += ",\"k" + std::to_string(i) + "\":0";
    return text + "}";
  };
  CHECK(json_problem(object(256)).empty());
  CHECK(json_problem(object(257)) == "f:1: more than 256 keys in one object");
}

TEST_CASE("a large document may have any number of keys, and its reading time grows almost linearly") {
  std::string text = "{\"z\": 1";
  constexpr int keys = 100'000;
  for (int key = 0; key < keys; ++key) text += ", \"model.layers." + std::to_string(key) + ".weight\": {}";
  text += ", \"z\": 2}";
  ProblemList problems("f");
  const Json json = parse_large_json(text, problems);
  CHECK(problems.empty());
  CHECK(json.size() == keys + 1);
  CHECK(json.at("z") == 2);  // the last of equal keys
  CHECK(parse_large_json("{\"a\": " + std::string(100, '['), problems).is_discarded());
  CHECK_THAT(problems.text(), Catch::Contains("nested deeper than 64 levels"));
}

TEST_CASE("text that is not JSON is rejected with line, column and the character found") {
  CHECK(json_problem("") == "f:1: syntax: invalid JSON at column 1 (unexpected end of the text)");
  CHECK(json_problem(" \n ") == "f:2: syntax: invalid JSON at column 2 (unexpected end of the text)");
  CHECK(json_problem("[1, ") == "f:1: syntax: invalid JSON at column 5 (unexpected end of the text)");
  CHECK(json_problem("{\"a\": \"b") == "f:1: syntax: invalid JSON at column 9 (unexpected end of the text)");
  CHECK(json_problem("{\n  \"a\": 1,\n  b: 2\n}") == "f:3: syntax: invalid JSON at column 3 (unexpected \"b\")");
  CHECK(json_problem("[1, 2]\n]") == "f:2: syntax: invalid JSON at column 1 (unexpected \"]\")");
  CHECK(json_problem("[1,\n 1e999]") == "f:2: syntax: invalid JSON at column 2 (the number 1e999 is too large)");
  CHECK(json_problem("[1, truth]") == "f:1: syntax: invalid JSON at column 5 (unexpected \"truth\")");
  CHECK(json_problem("not") == "f:1: syntax: invalid JSON at column 1 (unexpected \"not\")");
  for (const char* hostile : {"[\"\x1b[2J\x07", "[\xff]", "{\"a\":\"\xff\"}", "\"\\u12"}) {
    CAPTURE(hostile);
    CHECK_THAT(json_problem(hostile), Catch::StartsWith("f:1: syntax: invalid JSON at column "));
    CHECK(json_problem(hostile).find('\x1b') == std::string::npos);
  }
  CHECK(json_problem("[\"" + std::string(1'000'000, 'x')).size() < 500);
  ProblemList problems("f");
  CHECK(parse_json("[1,\n2,,", problems, 41).is_discarded());
  CHECK_THAT(problems.text(), Catch::StartsWith("f:42: syntax: invalid JSON at column 3 "));
  CHECK(json_reason("[json.exception.out_of_range.403] key 'a' not found") == "key 'a' not found");
  CHECK(json_reason("no library's") == "no library's");
}

TEST_CASE("texts and lines beyond their sizes are rejected before they are read") {
  CHECK(toml_problem(std::string(max_toml_bytes, '\n')).empty());
  CHECK(toml_problem(std::string(max_toml_bytes + 1, '\n')) == "f: 4194305 bytes (must be at most 4194304)");
  CHECK(json_problem(std::string(max_json_bytes + 1, ' ')) == "f: 67108865 bytes (must be at most 67108864)");
  const auto lines = [](const std::string& text) {
    ProblemList problems("f");
    const bool fine = check_line_limits(text, problems);
    CHECK(fine == problems.empty());
    return problems.text();
  };
  const std::string longest(max_line_bytes, 'x');
  CHECK(lines("").empty());
  CHECK(lines("a\n" + longest + "\n" + longest).empty());
  CHECK(lines("a\n" + longest + "y\n") == "f:2: a line of 1048577 bytes (must be at most 1048576)");
  CHECK(lines("a\n\n" + longest + "y") == "f:3: a line of 1048577 bytes (must be at most 1048576)");
}

TEST_CASE("a whole number of JSON is read if it fits, and never wrapped or rounded") {
  const auto read = [](const char* text) { return whole_number<std::int64_t>(Json::parse(text)); };
  CHECK(read("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  CHECK(read("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"9223372036854775808", "18446744073709551615", "18446744073709551616", "2.0", "1e3", "1e300",
                           "-9223372036854775809", "\"1\"", "true", "null", "[1]", "{}"}) {
    CAPTURE(text);
    CHECK_FALSE(read(text));
  }
  CHECK(whole_number<std::uint64_t>(Json(18446744073709551615U)) == 18446744073709551615U);
  CHECK_FALSE(whole_number<std::uint64_t>(Json(-1)));
  CHECK_FALSE(whole_number<std::int32_t>(Json(std::int64_t{1} << 31U)));
  CHECK(whole_number<std::int32_t>(Json(7), 7, 7) == 7);
  CHECK_FALSE(whole_number<std::int32_t>(Json(6), 7, 9));
  CHECK_FALSE(whole_number<std::int32_t>(Json(10), 7, 9));
}

}  // namespace foredraft
