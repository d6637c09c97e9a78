// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/problems.hpp"

/// The options of a command. One table is used by the parser, the help text, the manual page and completion.
namespace foredraft {

/// The valid words for an argument.
using Words = std::vector<std::string> (*)();

struct OptionSpec {
  std::string_view name;   ///< without the dashes
  std::string_view value;  ///< placeholder of its value in the help text; empty for a switch
  std::string_view summary;
  bool repeatable = false;  ///< may be given several times: CommandLine::all
  Words words = nullptr;    ///< valid values, for completion; null: any, such as a file
};

/// Options that are listed together in the help text, with a title.
struct OptionGroup {
  std::string_view title;
  std::vector<OptionSpec> options;
};

/// The option of CommandLine::threads().
inline constexpr OptionSpec threads_option{"threads", "N",
                                           "threads (default 0: one per hardware thread); results do not depend on it"};

/// Maximum of an option without an upper bound.
inline constexpr double unlimited = std::numeric_limits<double>::max();

struct CommandSpec {
  std::string_view name;
  std::string_view arguments;  ///< as in the usage line: "CONFIG.toml --out DIR"
  std::string_view summary;    ///< one sentence
  std::vector<OptionSpec> options;
  std::size_t min_positional;
  std::size_t max_positional;
  std::vector<std::string_view> examples;
  std::vector<OptionGroup> groups = {};  ///< before `options`
  std::string_view notes = {};           ///< lines between options and examples
  std::string_view program = "foredraft";
  Words words = nullptr;  ///< valid positional arguments, for completion
};

/// An option of another program, and what it is here: "--gamma, one less".
struct OtherOption {
  std::string_view theirs, ours;
};

/// All options: those of the groups, then the others.
[[nodiscard]] std::vector<OptionSpec> all_options(const CommandSpec& command);

/// The text of --help, with lines of at most text_columns.
[[nodiscard]] std::string help_text(const CommandSpec& command);

/// A parsed command line; "--" ends the options. Collects all invalid values; done() reports them together.
class CommandLine {
 public:
  /// Errors are thrown by done() as InputError, not here. `elsewhere`: suggestions for unknown options.
  CommandLine(const CommandSpec& command, const std::vector<std::string>& arguments,
              std::span<const OtherOption> elsewhere = {});

  [[nodiscard]] bool wants_help() const { return help_; }
  [[nodiscard]] const std::vector<std::string>& positional() const { return positional_; }
  /// The whole command line including the program's name, for a manifest.
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  /// Every value of a repeatable option, in the given order.
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;

  /// A number in [minimum, maximum], parsed by parse_quantity (80%, 32k); nullopt if absent or invalid.
  std::optional<double> real(std::string_view name, double minimum, double maximum);
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t minimum, std::int64_t maximum);
  /// Value of threads_option; 0 if absent or invalid.
  unsigned threads();
  /// Comma-separated words, at least one; nullopt if absent.
  [[nodiscard]] std::optional<std::vector<std::string>> texts(std::string_view name) const;
  /// Comma-separated probabilities, at least one.
  std::optional<std::vector<double>> probabilities(std::string_view name);
  /// Comma-separated integers in [minimum, maximum], at least one; sorted, without duplicates.
  std::optional<std::vector<std::int64_t>> integers(std::string_view name, std::int64_t minimum, std::int64_t maximum);
  /// One of `words`.
  std::optional<std::string> word(std::string_view name, const std::vector<std::string>& words);

  /// For a quantity with two units: if `from` was given, replaces it by `to` = factor * `from`. Adds a problem if both
  /// were given.
  void convert(std::string_view from, std::string_view to, double factor);

  /// Replaces the value of an option that was given.
  void replace(std::string_view name, const std::string& value);

  /// Adds a problem with an option.
  void reject(std::string_view name, std::string text, std::string why, std::string suggestion = {});
  /// Adds one problem that covers all given options of `names`.
  void reject_any(const std::vector<std::string_view>& names, std::string text, std::string why,
                  std::string suggestion = {});
  /// Adds a problem if the option is absent, unless an unreadable option might be this one.
  void require(std::string_view name, std::string why, std::string suggestion = {});

  /// True if an option is unknown or malformed; absent options are then not reported.
  [[nodiscard]] bool unreadable() const { return unreadable_; }
  /// The problems so far; callers may add more.
  [[nodiscard]] ProblemList& problems() { return problems_; }
  /// Throws InputError with all problems if there are any.
  void done() const { problems_.raise(); }

 private:
  struct Given {
    std::string name;
    std::string value;
  };
  [[nodiscard]] const std::string* find(std::string_view name) const;
  /// Reads the option at `at` and moves `at` to its last word. False if parsing cannot continue.
  bool read_option(const CommandSpec& command, std::span<const OtherOption> elsewhere,
                   std::vector<std::string>::const_iterator& at, std::vector<std::string>::const_iterator end);

  ProblemList problems_;
  std::vector<std::string> words_;
  std::vector<Given> given_;
  std::vector<std::string> positional_;
  bool help_ = false;
  bool unreadable_ = false;  ///< an option is unknown or malformed
};

}  // namespace foredraft
