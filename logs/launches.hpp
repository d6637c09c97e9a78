// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logs/draft_options.hpp"
#include "logs/observation.hpp"

/// Command lines above the output of scripts and servers: they say which runs speculate.
namespace foredraft::logs {

/// RE2 of the lines that Launches reads.
inline constexpr std::string_view launch_anchor =
    R"re(\b(?:aiperf|genai-(?:perf|bench)|perf_analyzer|guidellm|evalscope|xllm|lmdeploy)[ \t]+(?:(?:profile|perf|benchmark|run|serve)[ \t]+){0,2}[-\\]|\blmdeploy[ \t]+serve[ \t]+api_server)re"
    R"re(|\bollama(?:\.exe)?["']?[ \t]+run[ \t]+[-\w"']|\bpython[\d.]*[ \t]+(?:-[a-z][ \t]+)?[\w./-]+\.|\b(?:vllm|sglang)[ \t]+(?:serve|bench[ \t]+(?:throughput|latency|serve))\b|\btrtllm-bench[ \t]+-)re"
    R"re(|\b(?:docker|podman)[ \t]+run[ \t]|\bllama-[a-z-]+(?:\.exe)?["']?[ \t]+(?:--?[a-zA-Z]|\\)|\b(?:mlx_(?:lm|vlm)[.\w]*(?:[ \t]+\w+)?|koboldcpp[\w.-]*|text-generation-launcher)[ \t]+[-\\])re"
    R"re(|\bspeculative_config=(?:None|Spec)|\b(?:decoding_type|num_nextn_predict_layers|max_draft_len)["']?[ \t]*[:=][ \t]*["']?\w|[{,"'][ \t]*draft_num_predict[\\"']*[ \t]*:[ \t]*\d|^[ \t]*--(?:speculative|num[-_]spec|with[-_]speculation|(?:(?:max|num|request)[-_])?concurren(?:cy|t)|max[-_](?:num[-_]seqs|running[-_]requests)|num-prompts|(?:total[-_]token|depth|top[-_]k)[ =]\d)|^[ \t]+--(?:draft|assistant|aux[-_]model)|\bparameter[ \t]+'?draft_num_predict\b)re";

/// RE2 of all lines of a server's log that Launches reads: those that load or enable a drafter, take it away, or begin
/// with a model or a server. It finds others, too: what tells these apart would take long in a long log.
[[nodiscard]] const std::string& switch_anchor();

/// What a command line or a configuration starts, or a line of a server's log.
struct Launch {
  std::int64_t line = 0;
  std::string program = {};  ///< "vllm", "vllm bench throughput", or the script or module; empty: a configuration
  DraftOptions options = {};
  std::optional<double> concurrency = {};
  std::optional<double> slots = {};    ///< the most that run at once, of a program that is no server
  std::optional<double> prompts = {};  ///< sent at once, of a program without a server
  bool without_drafter = false;        ///< the name of its model says so: "gemma4:31b-nodraft"
  bool of_session = false;             ///< changes what the one before it started: "/set parameter" of `ollama run`
  bool of_server = false;              ///< a line of its log
};

/// The requests in flight that the options of a load generator's command line set, if it is one number:
/// `--max-concurrency 8`, `--concurrency-range 8:8`.
[[nodiscard]] std::optional<double> concurrency_option(std::string_view text);

/// The command lines of a log: those of Python scripts and modules, of `vllm serve`, `sglang serve`, `trtllm-bench`,
/// `llama-cli`, `ollama run` (a tag may name its drafter), `mlx_lm.generate` and other servers, clients and consoles by
/// their names, also over several lines, configurations (YAML) of TensorRT-LLM, the options of requests to Ollama, the
/// draft length that somebody sets within `ollama run`, and the drafter that a server's log says it loads or enables,
/// up to the next command.
class Launches {
 public:
  /// Reads a line with launch_anchor or switch_anchor(); `above`: the one above it. Returns whether it begins a command
  /// line, options that were added to one, or a configuration.
  bool read(std::string_view text, std::string_view above, std::int64_t number);

  /// Runs of unknown decoding speculate if the last command line before them drafts. If it does not, they are without
  /// speculation if it says so, or if another command line of the log starts the same program with drafts; so are those
  /// without counts and draft length that other words call speculative, such as a title. Command lines without output
  /// between them count as one; nothing is set if two of these start the same program with and without drafts, or if
  /// the log has several formats, but for those of one program. Runs of unknown load or drafter have those of the
  /// command line. Warns of what was read (W22). Runs with a drafter that looks tokens up lose their counts if nothing
  /// tells how many steps did not draft (W18).
  void name_runs(LogContents& contents) const;

 private:
  bool read_session(std::string_view text, std::int64_t number);
  bool read_switch(std::string_view text, std::int64_t number);
  [[nodiscard]] std::vector<Launch> with_beginning(const LogContents& contents) const;
  [[nodiscard]] std::vector<Launch> before_runs(const LogContents& contents) const;

  std::vector<Launch> launches_ = {};
  bool of_trtllm_ = false;  ///< a configuration of TensorRT-LLM was read: runs of no other engine are its
};

}  // namespace foredraft::logs
