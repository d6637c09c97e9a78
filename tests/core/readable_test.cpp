// SPDX-License-Identifier: Apache-2.0
#include "core/readable.hpp"

#include <catch2/catch.hpp>

#include "core/problems.hpp"

namespace foredraft {
namespace {

std::string repeated_text(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

const std::string three_dots = "\u2026";

}  // namespace

TEST_CASE("a quoted value in a message ends after 200 characters, never inside one") {
  CHECK(readable("").empty());
  CHECK(readable("cost.target \u03b1 \U0001F600") == "cost.target \u03b1 \U0001F600");
  const std::string letters(200, 'a');
  CHECK(readable(letters) == letters);
  CHECK(readable(letters + "b") == letters + three_dots);
  CHECK(readable(std::string(100'000'000, 'a')) == letters + three_dots);
  CHECK(readable(repeated_text("\u03b1", 200)) == repeated_text("\u03b1", 200));
  CHECK(readable(repeated_text("\U0001F600", 201)) == repeated_text("\U0001F600", 200) + three_dots);
  // The limit counts displayed characters: 50 escapes of four characters, and no partial one.
  CHECK(readable(std::string(51, '\x1b')) == repeated_text("\\x1b", 50) + three_dots);
  CHECK(readable("a" + std::string(50, '\x1b')) == "a" + repeated_text("\\x1b", 49) + three_dots);
  CHECK(readable("abc", 2) == "ab" + three_dots);
}

TEST_CASE("no quoted text in a message moves a cursor, hides or reverses text, or is invalid UTF-8") {
  CHECK(readable("a\x1b[2Jb\n\r\t\x7f") == "a\\x1b[2Jb\\x0a\\x0d\\x09\\x7f");
  CHECK(readable(std::string_view("\0", 1)) == "\\x00");
  CHECK(readable("\u009b31m\u00a0\u200b\u202e\ufeff\U000E0041") == "\\u009b31m\\u00a0\\u200b\\u202e\\ufeff\\ue0041");
  // A single byte, an overlong form, a surrogate, beyond Unicode, truncated.
  CHECK(readable("\xff \x80 \xc0\xaf \xe0\x9f\xbf \xf0\x8f\xbf\xbf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x80") ==
        "\\xff \\x80 \\xc0\\xaf \\xe0\\x9f\\xbf \\xf0\\x8f\\xbf\\xbf \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80 \\xe2\\x80");
  for (const char* hostile : {"\x1b]0;x\x07", "\xc3(", "\u202eabc", "a\\x1b"}) {
    CHECK(readable(readable(hostile)) == readable(hostile));
  }
}

TEST_CASE("a message cuts long words and quoted values, and keeps what follows them") {
  const std::string long_word(1000, 'w');
  const std::string cut_word = std::string(200, 'w') + three_dots;
  CHECK(readable_message("path " + long_word + " (why)\nnext\x1b line") ==
        "path " + cut_word + " (why)\nnext\\x1b line");
  CHECK(readable_message(cut_word + ":12: missing") == cut_word + ":12: missing");
  const std::string words = repeated_text("ab ", 1000);
  CHECK(readable_part("unknown rule \"" + words + "\" here") ==
        "unknown rule \"" + words.substr(0, 200) + three_dots + "\" here");
  CHECK(readable_part("two\nlines") == "two\\x0alines");
  CHECK(readable_part("\"") == "\"");
  CHECK(readable_part("no quotes " + words).starts_with("no quotes " + words));
  CHECK(readable_message(repeated_text("ab ", 1'000'000)).size() < 5000);
  const std::string once = readable_part("unknown \"" + long_word + "\"");
  CHECK(readable_message(once) == once);
}

TEST_CASE("a list of problems shows the first hundred on one readable line each") {
  ProblemList problems("a\nb.toml");
  problems.add({.line = 7,
                .key = "k\x1b",
                .text = "unknown \"" + std::string(300, 'v') + "\"",
                .why = "w\rw",
                .suggestion = "s\ts"});
  CHECK(problems.text() ==
        "a\\x0ab.toml:7: k\\x1b: unknown \"" + std::string(200, 'v') + three_dots + "\" (w\\x0dw) - s\\x09s");
  ProblemList many("f");
  for (int i = 0; i < 100; ++i) many.add({.text = "p"});
  CHECK(many.text() == repeated_text("f: p\n", 99) + "f: p");
  many.add({.text = "p"});
  many.add({.text = "p"});
  CHECK(many.text() == repeated_text("f: p\n", 100) + "f: and 2 more problems");
}

TEST_CASE("lines of more than 100 columns are broken at blanks, and words stay whole") {
  const std::string long_line = std::string(60, 'a') + " " + std::string(39, 'b');
  CHECK(wrapped(long_line + "\nnext\n") == long_line + "\nnext\n");  // 100 columns
  CHECK(wrapped(long_line + "b\n", 2) == std::string(60, 'a') + "\n  " + std::string(40, 'b') + "\n");
  CHECK(wrapped(std::string(150, 'a')) == std::string(150, 'a'));
  CHECK(wrapped("   " + std::string(150, 'a')) == "   " + std::string(150, 'a'));
  CHECK(wrapped("") == "");
  CHECK(wrapped("--option VALUE  a text", 16, 20) == "--option VALUE  a\n" + std::string(16, ' ') + "text");
  CHECK(wrapped("an option VALUE  text", 17, 18) == "an option VALUE  text");  // its first 17 columns stay together
}

}  // namespace foredraft
