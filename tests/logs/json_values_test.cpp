// SPDX-License-Identifier: Apache-2.0
#include "logs/json_values.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/documents.hpp"

namespace foredraft::tests {

using logs::JsonDocument;
using logs::JsonValue;

TEST_CASE("a value is found by its name, the last of equal ones, and its members in order") {
  const std::string text = R"( {"a": [1, {"b": -2.5e3}, []], "c": null, "a b": "x\n\"y\"", "c": true} rest)";
  JsonDocument document;
  REQUIRE(document.read(text));
  CHECK(text.substr(document.size()) == " rest");
  const JsonValue& value = document.value();
  CHECK(value.size() == 4);
  CHECK(value.find("b") == nullptr);
  CHECK(value.at("c").is_true());
  CHECK(value.at("a b").string() == "x\n\"y\"");
  const JsonValue& list = value.at("a");
  REQUIRE(list.size() == 3);
  CHECK(list.front().number() == 1.0);
  CHECK(list.front().is_integer());
  auto entry = list.begin();
  CHECK((++entry)->at("b").number() == -2500.0);
  CHECK_FALSE(entry->at("b").is_integer());
  CHECK(entry->source() == R"({"b": -2.5e3})");
  CHECK((++entry)->empty());
  CHECK(++entry == list.end());
}

TEST_CASE("Python literals and a comma after the last member are read, and anything else is not a value") {
  JsonDocument document;
  REQUIRE(document.read("{'it\\'s': True, 'b': None, \"c\": NaN, 'd': -Infinity, 'e': 'say \"x\"'}"));
  CHECK(document.value().front().key() == "it's");
  CHECK(document.value().front().is_true());
  CHECK(document.value().at("d").is_null());
  CHECK(document.value().at("e").string() == "say \"x\"");
  for (const char* text :
       {"{",    "{\"a\"}", "{\"a\":}", "[1,,]",     "{\"a\":1,,}", "[,]",       "{,}", "[1 2]", "[01]", "[1.]", "[.5]",
        "[+1]", "[1e]",    "[\"a]",    "[\"a\n\"]", "[\"a\\",      "{\"a\":1]", "[}",  "[tru]", "",     " ",    "[1"}) {
    CAPTURE(text);
    CHECK_FALSE(document.read(text));
  }
  for (const char* text : {"{\"a\": [1, 2,], }", "{\"a\": [1, 2], ..., }"}) {
    CAPTURE(text);
    REQUIRE(document.read(text));
    CHECK(document.value().at("a").size() == 2);
  }
  REQUIRE(document.read("[1e400, 1e-400]"));
  CHECK(std::isinf(document.value().front().number()));
}

TEST_CASE("a value has limits: its depth, and the names of an object") {
  JsonDocument document;
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(document.read(nested(max_nesting)));
  CHECK_FALSE(document.read(nested(max_nesting + 1)));
  const auto names = [](int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
    return text + "}";
  };
  CHECK(document.read(names(1024)));
  CHECK_FALSE(document.read(names(1025)));
}

TEST_CASE("values of one shape have the same names and types") {
  JsonDocument document;
  const auto shape = [&](std::string_view text) {
    REQUIRE(document.read(text));
    return document.shape();
  };
  const auto one = shape(R"({"a": 1, "b": ["x", {"c": 2}]})");
  CHECK(shape(R"({"a":12.5,"b":["yy",{"c":-1}]})") == one);
  for (const char* other : {R"({"a": 1, "b": ["x", {"d": 2}]})", R"({"a": "1", "b": ["x", {"c": 2}]})",
                            R"({"a": 1, "b": ["x"], "c": 2})", R"({"a": 1, "b": ["x", "y", {"c": 2}]})",
                            R"({"ab": ["x", {"c": 2}]})", R"([{"a": 1, "b": ["x", {"c": 2}]}])"}) {
    CHECK(shape(other) != one);
  }
}

TEST_CASE("escapes are UTF-8 letters, also as surrogate pairs") {
  CHECK(logs::unescaped(R"(caf\u00e9 \u20AC \ud83d\ude00 \/\\\t)") ==
        "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 /\\\t");
  CHECK(logs::unescaped(R"(\ud83d \ude00 \u12)") == "? ? ?12");
}

}  // namespace foredraft::tests
