// SPDX-License-Identifier: Apache-2.0
#include "core/command_line.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <iterator>
#include <limits>

#include "core/names.hpp"
#include "core/numbers.hpp"
#include "core/readable.hpp"

namespace foredraft {
namespace {

std::vector<std::string> option_names(const CommandSpec& command) {
  std::vector<std::string> names{"--help"};
  for (const OptionSpec& option : all_options(command)) names.push_back("--" + std::string(option.name));
  return names;
}

/// True if `word` is one of the words that dashes separate in `option`.
bool has_word(std::string_view option, std::string_view word) {
  return fmt::format("{}-", option).find(fmt::format("-{}-", word)) != std::string::npos;
}

/// What to write instead of an unknown option: our name for an engine's option, the nearest option, those that contain
/// its last word, or the command that lists all.
std::string option_suggestion(const CommandSpec& command, std::span<const OtherOption> elsewhere,
                              const std::string& name) {
  const std::vector<std::string> names = option_names(command);
  const auto theirs = std::ranges::find(elsewhere, name, &OtherOption::theirs);
  if (theirs != elsewhere.end()) {
    const std::string ours(theirs->ours.substr(0, theirs->ours.find_first_of(" ,")));
    if (std::ranges::find(names, ours) != names.end()) return fmt::format("here it is {}", theirs->ours);
  }
  constexpr std::size_t few = 12;
  if (names.size() <= few || !nearest(name, names).empty()) return suggestion_for(name, names);
  const std::string last = name.substr(name.rfind('-') + 1);
  std::vector<std::string> alike;
  std::ranges::copy_if(names, std::back_inserter(alike), [&](const std::string& one) { return has_word(one, last); });
  if (!alike.empty() && alike.size() <= few) return fmt::format("did you mean {}?", fmt::join(alike, ", "));
  return fmt::format("{} {} --help lists all", command.program, command.name);
}

std::vector<std::string> split_at_commas(const std::string& list) {
  std::vector<std::string> entries;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    entries.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return entries;
}

}  // namespace

std::vector<OptionSpec> all_options(const CommandSpec& command) {
  std::vector<OptionSpec> all;
  for (const OptionGroup& group : command.groups) all.insert(all.end(), group.options.begin(), group.options.end());
  all.insert(all.end(), command.options.begin(), command.options.end());
  return all;
}

namespace {

/// An example command; if too long, continued on further lines as in a shell, with breaks before options.
std::string example_text(std::string_view command) {
  constexpr std::string_view continued = " \\\n     ";
  std::string text = " ";
  for (std::size_t begin = 0, width = 0; begin < command.size();) {
    const std::size_t end = std::min(command.find(" --", begin + 1), command.size());
    const std::string_view part = command.substr(begin, end - begin);
    if (width + part.size() > text_columns - continued.size()) {
      text += continued;
      width = 0;
    }
    text.append(begin == 0 ? " " : "").append(part);
    width += part.size();
    begin = end;
  }
  return text + "\n";
}

}  // namespace

std::string help_text(const CommandSpec& command) {
  constexpr std::size_t margin = 2;  // also between columns
  std::string text = wrapped(
      fmt::format("usage: {} {} {}\n\n{}\n", command.program, command.name, command.arguments, command.summary));
  std::size_t width = 6;
  const auto left = [](const OptionSpec& option) {
    return fmt::format("--{}{}{}", option.name, option.value.empty() ? "" : " ", option.value);
  };
  for (const OptionSpec& option : all_options(command)) width = std::max(width, left(option).size());
  const auto list = [&](std::string_view title, const std::vector<OptionSpec>& options) {
    text += fmt::format("\n{}\n", title);
    for (const OptionSpec& option : options) {
      text += wrapped(fmt::format("  {:<{}}  {}\n", left(option), width, option.summary), width + 2 * margin);
    }
  };
  for (const OptionGroup& group : command.groups) list(group.title, group.options);
  list("options", command.options);
  text += fmt::format("  {:<{}}  {}\n", "--help", width, "this text");
  if (!command.notes.empty()) text += wrapped(fmt::format("\n{}", command.notes));
  if (!command.examples.empty()) text += "\nexamples\n";
  for (const std::string_view example : command.examples) text += example_text(example);
  return text;
}

CommandLine::CommandLine(const CommandSpec& command, const std::vector<std::string>& arguments,
                         std::span<const OtherOption> elsewhere)
    : problems_(fmt::format("{} {}", command.program, command.name)),
      words_{std::string(command.program), std::string(command.name)} {
  words_.insert(words_.end(), arguments.begin(), arguments.end());
  // After "--" everything is a name, even if it begins with a dash.
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  for (auto at = arguments.begin(); at != end; ++at) {
    if (!at->starts_with("-") || *at == "-") {
      positional_.push_back(*at);
    } else if (*at == "--help" || *at == "-h") {
      help_ = true;
    } else if (!read_option(command, elsewhere, at, end)) {
      return;
    }
  }
  if (end != arguments.end()) positional_.insert(positional_.end(), end + 1, arguments.end());
  if (help_) return;
  if (unreadable_) {  // the argument may be the value of an unknown option
    positional_.clear();
    return;
  }
  if (positional_.size() > command.max_positional) {
    problems_.add({.key = positional_[command.max_positional],
                   .text = "unexpected argument",
                   .suggestion = fmt::format("usage: {} {} {}", command.program, command.name, command.arguments)});
  }
  if (positional_.size() < command.min_positional) {
    problems_.add({.text = "an argument is missing",
                   .suggestion = fmt::format("usage: {} {} {}", command.program, command.name, command.arguments)});
  }
}

bool CommandLine::read_option(const CommandSpec& command, std::span<const OtherOption> elsewhere,
                              std::vector<std::string>::const_iterator& at,
                              std::vector<std::string>::const_iterator end) {
  const std::size_t equals = std::min(at->find('='), at->size());
  const std::string name = at->substr(0, equals);
  const std::vector<OptionSpec> options = all_options(command);
  // Only whole names: --alph is not --alpha, because a typo must not run.
  const auto option = std::find_if(options.begin(), options.end(),
                                   [&](const OptionSpec& one) { return name == fmt::format("--{}", one.name); });
  if (option == options.end()) {
    unreadable_ = true;
    problems_.add({.key = name, .text = "unknown option", .suggestion = option_suggestion(command, elsewhere, name)});
    return true;
  }
  std::string value;
  std::string error;
  if (equals < at->size()) {
    value = at->substr(equals + 1);
    if (option->value.empty())
      error = fmt::format("option '{}' does not take any arguments", name);
    else if (value.empty())
      error = fmt::format("the argument for option '{}' should follow immediately after the equal sign", name);
  } else if (!option->value.empty()) {
    if (at + 1 == end)
      error = fmt::format("the required argument for option '{}' is missing", name);
    else
      value = *++at;
  }
  if (!error.empty()) {
    unreadable_ = true;
    problems_.add({.text = error, .suggestion = fmt::format("{} {} --help", command.program, command.name)});
  } else if (has(option->name) && !option->repeatable) {
    reject(option->name, "given twice", "");
  } else {
    given_.push_back({std::string(option->name), std::move(value)});
  }
  return error.empty();
}

const std::string* CommandLine::find(std::string_view name) const {
  const auto found = std::find_if(given_.begin(), given_.end(), [&](const Given& given) { return given.name == name; });
  return found == given_.end() ? nullptr : &found->value;
}

std::optional<std::string> CommandLine::text(std::string_view name) const {
  const std::string* value = find(name);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::vector<std::string> CommandLine::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const Given& given : given_) {
    if (given.name == name) values.push_back(given.value);
  }
  return values;
}

std::optional<std::vector<std::string>> CommandLine::texts(std::string_view name) const {
  const std::string* value = find(name);
  return value == nullptr ? std::nullopt : std::optional(split_at_commas(*value));
}

std::optional<double> CommandLine::real(std::string_view name, double minimum, double maximum) {
  const std::string* value = find(name);
  if (value == nullptr) return std::nullopt;
  const auto number = parse_quantity(*value);
  if (!number) {
    reject(name, fmt::format("invalid value \"{}\"", *value), "must be a finite number");
  } else if (*number >= minimum && *number <= maximum) {
    return *number == 0.0 ? 0.0 : *number;  // -0 is 0
  } else if (maximum == std::numeric_limits<double>::max()) {
    reject(name, fmt::format("invalid {}={}", name, *value), fmt::format("must be at least {}", minimum));
  } else {
    reject(name, fmt::format("invalid {}={}", name, *value), fmt::format("must lie in [{}, {}]", minimum, maximum));
  }
  return std::nullopt;
}

std::optional<std::int64_t> CommandLine::integer(std::string_view name, std::int64_t minimum, std::int64_t maximum) {
  const std::string* value = find(name);
  if (value == nullptr) return std::nullopt;
  const auto number = parse_whole_quantity(*value);
  if (!number) {
    reject(name, fmt::format("invalid value \"{}\"", *value), "must be a whole number");
  } else if (*number < minimum || *number > maximum) {
    reject(name, fmt::format("invalid {}={}", name, *value), fmt::format("must lie in {} to {}", minimum, maximum));
  } else {
    return number;
  }
  return std::nullopt;
}

unsigned CommandLine::threads() {
  constexpr std::int64_t max_threads = 4096;
  return static_cast<unsigned>(integer(threads_option.name, 0, max_threads).value_or(0));
}

std::optional<std::vector<double>> CommandLine::probabilities(std::string_view name) {
  const std::string* value = find(name);
  if (value == nullptr) return std::nullopt;
  std::vector<double> numbers;
  for (const std::string& entry : split_at_commas(*value)) {
    const auto number = parse_quantity(entry);
    if (!number || *number < 0.0 || *number > 1.0) {
      reject(name, fmt::format("invalid entry {} \"{}\"", numbers.size() + 1, entry), "must be a number in [0, 1]",
             "separate entries by commas: 0.8,0.7,0.6");
      return std::nullopt;
    }
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<std::vector<std::int64_t>> CommandLine::integers(std::string_view name, std::int64_t minimum,
                                                               std::int64_t maximum) {
  const std::string* value = find(name);
  if (value == nullptr) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const std::string& entry : split_at_commas(*value)) {
    const auto number = parse_whole_quantity(entry);
    if (!number || *number < minimum || *number > maximum) {
      reject(name, fmt::format("invalid entry {} \"{}\"", numbers.size() + 1, entry),
             fmt::format("must be a whole number in {} to {}", minimum, maximum), "separate entries by commas: 1,8,64");
      return std::nullopt;
    }
    numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

std::optional<std::string> CommandLine::word(std::string_view name, const std::vector<std::string>& words) {
  const std::string* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (std::find(words.begin(), words.end(), *value) != words.end()) return *value;
  reject(name, fmt::format("unknown {} \"{}\"", name, *value), "", suggestion_for(*value, words));
  return std::nullopt;
}

void CommandLine::convert(std::string_view from, std::string_view to, double factor) {
  const std::string* value = find(from);
  if (value == nullptr) return;
  if (has(to))
    return reject(from, fmt::format("mutually exclusive with --{}", to), "one quantity in two units", "remove one");
  const auto number = parse_quantity(*value);
  if (!number) return reject(from, fmt::format("invalid value \"{}\"", *value), "must be a finite number");
  given_.push_back({std::string(to), number_text(*number * factor)});
  std::erase_if(given_, [&](const Given& given) { return given.name == from; });
}

void CommandLine::replace(std::string_view name, const std::string& value) {
  for (Given& given : given_) {
    if (given.name == name) given.value = value;
  }
}

void CommandLine::reject(std::string_view name, std::string text, std::string why, std::string suggestion) {
  problems_.add({.key = fmt::format("--{}", name),
                 .text = std::move(text),
                 .why = std::move(why),
                 .suggestion = std::move(suggestion)});
}

void CommandLine::reject_any(const std::vector<std::string_view>& names, std::string text, std::string why,
                             std::string suggestion) {
  std::string given;
  for (const std::string_view name : names) {
    if (has(name)) given += fmt::format("{}--{}", given.empty() ? "" : ", ", name);
  }
  if (given.empty()) return;
  problems_.add(
      {.key = std::move(given), .text = std::move(text), .why = std::move(why), .suggestion = std::move(suggestion)});
}

void CommandLine::require(std::string_view name, std::string why, std::string suggestion) {
  if (!has(name) && !unreadable_) reject(name, "missing", std::move(why), std::move(suggestion));
}

}  // namespace foredraft
