// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <utility>

#include "core/problems.hpp"
#include "core/readable.hpp"
#include "core/table.hpp"

namespace foredraft::app {
namespace {

constexpr std::string_view program_title = "foredraft: predicts and simulates speculative decoding";

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> exit_codes{{
    {"0", "done"},
    {"1", "a check or the run failed"},
    {"2", "invalid usage or input; nothing was written"},
    {"130", "interrupted; the same command resumes a sweep"},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> environment{{
    {"NO_COLOR", "set and not empty: no colors on a terminal"},
    {"FOREDRAFT_ISA", "the instruction set of the simulation's loops (default: the widest); no result depends on it"},
    {"FOREDRAFT_PLOTS", "the folder of the scripts that draw figures (default: the one installed with the program)"},
    {"FOREDRAFT_OPERATORS", "the folder of the scripts that query operator times (default likewise)"},
}};

// ---- The manual page.

/// Text with the special characters of roff escaped.
std::string roff(std::string_view text) {
  std::string result;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) result += "\\&";
    if (c == '-') result += '\\';
    result += c == '\\' ? "\\e" : std::string(1, c);
    begins_line = c == '\n';
  }
  return result;
}

std::string tagged(std::string_view tag, std::string_view text) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(tag), roff(text));
}

std::string options_roff(std::string_view heading, const std::vector<OptionSpec>& options) {
  std::string text = heading.empty() ? "" : fmt::format(".PP\n\\fI{}\\fR\n", roff(heading));
  for (const OptionSpec& option : options) {
    const std::string value = option.value.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(option.value));
    text += fmt::format(".TP\n\\fB\\-\\-{}\\fR{}\n{}\n", roff(option.name), value, roff(option.summary));
  }
  return text;
}

std::string command_roff(const CommandSpec& command) {
  std::string text = fmt::format(".SS {}\n\\fBforedraft {}\\fR {}\n.PP\n{}\n", roff(command.name), roff(command.name),
                                 roff(command.arguments), roff(command.summary));
  for (const OptionGroup& group : command.groups) text += options_roff(group.title, group.options);
  text += options_roff(command.groups.empty() ? "" : "options", command.options);
  if (!command.notes.empty()) text += fmt::format(".PP\n.nf\n{}.fi\n", roff(command.notes));
  return text;
}

// ---- Completion.

std::vector<std::string> all_of(Words words) { return words == nullptr ? std::vector<std::string>{} : words(); }

/// The candidates after the words of a command. `last` may be incomplete.
std::vector<std::string> candidates(const CommandSpec& command, const std::vector<std::string>& given,
                                    std::string_view last) {
  std::vector<std::string> names;
  for (const OptionSpec& option : all_options(command)) {
    std::string name = fmt::format("--{}", option.name);
    if (!given.empty() && given.back() == name && !option.value.empty()) return all_of(option.words);
    const bool there = std::ranges::find(given, name) != given.end();
    if (option.repeatable || !there) names.push_back(std::move(name));
  }
  if (!last.starts_with('-')) return all_of(command.words);
  names.emplace_back("--help");
  return names;
}

}  // namespace

std::string program_help(const std::vector<CommandSpec>& commands) {
  constexpr std::size_t name_columns = 11;
  std::string text = fmt::format("{}\n\nusage: foredraft COMMAND [options]\n\ncommands\n", program_title);
  for (const CommandSpec& command : commands) {
    text += wrapped(fmt::format("  {:<{}} {}\n", command.name, name_columns, command.summary), name_columns + 3);
  }
  text += "\nforedraft help COMMAND explains one. foredraft --version (-v) prints the version.\n\nexit codes\n";
  for (const auto& [code, meaning] : exit_codes) text += fmt::format("  {:<{}} {}\n", code, name_columns, meaning);
  return text +
         "\nexamples\n"
         "  foredraft predict --alpha 0.8 --gamma 5 --c 0.05\n"
         "  foredraft sweep experiments/configs/quickstart.toml --out results/quickstart\n";
}

std::string manual_page(const std::vector<CommandSpec>& commands, std::string_view version) {
  const std::size_t colon = program_title.find(':');
  std::string text =
      fmt::format(".TH FOREDRAFT 1 \"\" \"foredraft {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", roff(version),
                  roff(program_title.substr(0, colon)), roff(program_title.substr(colon + 2)));
  text += ".SH SYNOPSIS\n\\fBforedraft\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH COMMANDS\n";
  for (const CommandSpec& command : commands) text += command_roff(command);
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : exit_codes) text += tagged(code, meaning);
  text += ".SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : environment) text += tagged(name, meaning);
  text += ".SH EXAMPLES\n.nf\n";
  for (const CommandSpec& command : commands) {
    for (const std::string_view example : command.examples) text += roff(example) + "\n";
  }
  return text + ".fi\n";
}

namespace {

constexpr std::string_view bash_script = R"script(# bash completion of foredraft: source <(foredraft completion bash)
_foredraft() {
  local IFS=$'\n'
  COMPREPLY=($("$1" completion --words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _foredraft foredraft
)script";

constexpr std::string_view zsh_script = R"script(#compdef foredraft
# zsh completion of foredraft: source <(foredraft completion zsh), after compinit
_foredraft() {
  local -a candidates
  candidates=(${(f)"$("${words[1]}" completion --words -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( ${#candidates} )); then compadd -a candidates; else _files; fi
}
if [[ ${funcstack[1]} = _foredraft ]]; then _foredraft "$@"; else compdef _foredraft foredraft; fi
)script";

constexpr std::string_view fish_script = R"script(# fish completion of foredraft: foredraft completion fish | source
function __foredraft_completions
  set -l words (commandline -opc) (commandline -ct)
  $words[1] completion --words -- $words[2..-1] 2>/dev/null
end
complete -c foredraft -a '(__foredraft_completions)'
)script";

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> completion_scripts{
    {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}}};

}  // namespace

std::vector<std::string> completed_shells() {
  return texts_of(completion_scripts, [](const auto& one) { return one.first; });
}

std::string completion_script(std::string_view shell) {
  for (const auto& [name, script] : completion_scripts) {
    if (name == shell) return std::string(script);
  }
  throw InputError(fmt::format("foredraft completion: {}: unknown shell - {}", readable(shell),
                               suggestion_for(shell, completed_shells())));
}

std::vector<std::string> completions(const std::vector<CommandSpec>& commands, std::vector<std::string> words) {
  // bash treats the "=" of --option=value as a word.
  if (!words.empty() && words.back() == "=") words.back().clear();
  std::erase(words, "=");
  const std::string last = words.empty() ? "" : words.back();
  if (!words.empty()) words.pop_back();
  std::vector<std::string> all;
  if (words.empty() || (words.size() == 1 && words.front() == "help")) {
    for (const CommandSpec& command : commands) all.emplace_back(command.name);
    if (last.starts_with('-')) all = {"--help", "--version"};
  } else if (const auto command = std::ranges::find(commands, words.front(), &CommandSpec::name);
             command != commands.end()) {
    all = candidates(*command, {words.begin() + 1, words.end()}, last);
  }
  std::erase_if(all, [&](const std::string& candidate) { return !candidate.starts_with(last); });
  return all;
}

}  // namespace foredraft::app
