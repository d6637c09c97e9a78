// SPDX-License-Identifier: Apache-2.0
#include "answers/engine_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace foredraft::answers {
namespace {

/// Whether a word needs no quotes in a shell command or a YAML file.
bool is_plain_word(const std::string& word) {
  return !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("._-/").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

/// Whether a drafter's name is that of a method, as vLLM writes them: a label ("TP1", "ngram-tuned") is none.
bool names_method(const std::string& word) {
  constexpr std::array<std::string_view, 10> known{"eagle",  "mtp",    "ngram", "medusa", "draft",
                                                   "suffix", "dflash", "nextn", "mlp",    "spark"};
  const auto in_word = [&](std::string_view one) { return word.find(one) != std::string::npos; };
  const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return std::ranges::all_of(word, is_letter) && std::ranges::any_of(known, in_word);
}

std::int64_t longest_of(const SettingsQuestion& question) {
  std::int64_t longest = *question.gamma;
  for (const GammaRange& range : question.schedule) longest = std::max(longest, range.gamma);
  return longest;
}

/// Whether the settings turn speculation off at all loads.
bool is_off(const SettingsQuestion& question) { return *question.gamma == 0 && question.schedule.empty(); }

// ---- engines

std::string vllm(const SettingsQuestion& question) {
  if (!question.gamma) return "";
  if (is_off(question)) return "remove --speculative-config";
  nlohmann::ordered_json config = nlohmann::ordered_json::object();
  if (names_method(question.method)) config["method"] = question.method;
  if (!question.draft.empty()) config["model"] = question.draft;
  const bool names_drafter = !config.empty();
  config["num_speculative_tokens"] = longest_of(question);
  for (const GammaRange& range : question.schedule) {
    config["num_speculative_tokens_per_batch_size"].push_back({range.from_batch, range.to_batch, range.gamma});
  }
  std::string text = config.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  for (std::size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at)) {
    text.replace(at, 1, "\\u0027");  // a quote would end the word of the shell
  }
  return fmt::format("--speculative-config '{}'{}", text, names_drafter ? "" : "  (beside your method or model)");
}

std::string sglang(const SettingsQuestion& question) {
  if (!question.gamma) return "";
  if (is_off(question)) return "remove --speculative-algorithm";
  const std::int64_t steps = longest_of(question);
  const std::string model =
      is_plain_word(question.draft) ? fmt::format(" --speculative-draft-model-path {}", question.draft) : "";
  std::string text =
      fmt::format("--speculative-num-steps {} --speculative-eagle-topk 1 --speculative-num-draft-tokens {}{}", steps,
                  steps + 1, model);
  if (question.schedule.empty()) return text;
  nlohmann::ordered_json config = nlohmann::ordered_json::object();
  std::vector<std::string> off;
  for (const GammaRange& range : question.schedule) {
    config[std::to_string(range.from_batch)] = {{"candidate_steps", {std::max<std::int64_t>(1, range.gamma)}}};
    if (range.gamma == 0) off.push_back(fmt::format("{} to {}", range.from_batch, range.to_batch));
  }
  text += " --speculative-adaptive --speculative-adaptive-config schedule.json\nschedule.json: " + config.dump();
  if (off.empty()) return text;
  return text + fmt::format("\n(SGLang cannot turn speculation off by load: one draft at {} requests)",
                            fmt::join(off, " and at "));
}

/// LMDeploy's PyTorch engine has one draft length for all loads.
std::string lmdeploy(const SettingsQuestion& question) {
  if (!question.gamma) return "";
  const std::string one_length = question.schedule.empty() ? "" : "  (LMDeploy has one draft length for all loads)";
  if (*question.gamma == 0) return "remove --speculative-algorithm" + one_length;
  const std::string model =
      is_plain_word(question.draft) ? fmt::format(" --speculative-draft-model {}", question.draft) : "";
  return fmt::format("--speculative-num-draft-tokens {}{}{}", *question.gamma, model, one_length);
}

/// Major and minor version of "1.2.0rc3"; nullopt if the text is not a version.
std::optional<std::pair<int, int>> release_of(std::string_view version) {
  if (version.starts_with('v')) version.remove_prefix(1);
  const auto number = [&]() -> std::optional<int> {
    constexpr std::size_t max_digits = 4;
    std::size_t digits = 0;
    while (digits < version.size() && std::isdigit(static_cast<unsigned char>(version[digits])) != 0) ++digits;
    if (digits == 0 || digits > max_digits) return std::nullopt;
    const int value = std::stoi(std::string(version.substr(0, digits)));
    version.remove_prefix(digits);
    return value;
  };
  const auto major = number();
  if (!major || !version.starts_with('.')) return std::nullopt;
  version.remove_prefix(1);
  const auto minor = number();
  if (!minor) return std::nullopt;
  return std::pair(*major, *minor);
}

/// Keys of draft_len_schedule are lower bounds of the batch size up to version 1.2, upper bounds from 1.3.
std::string trtllm(const SettingsQuestion& question) {
  const auto release = release_of(question.version);
  if (!question.gamma || !release) return "";
  if (is_off(question)) return "remove speculative_config";
  std::string text = fmt::format("speculative_config: {{max_draft_len: {}", longest_of(question));
  if (is_plain_word(question.draft)) text += fmt::format(", speculative_model: {}", question.draft);
  if (!question.schedule.empty()) {
    const bool upper = *release >= std::pair(1, 3);
    std::vector<std::string> keys;
    for (const GammaRange& range : question.schedule) {
      keys.push_back(fmt::format("{}: {}", upper ? range.to_batch : range.from_batch, range.gamma));
    }
    text += fmt::format(", draft_len_schedule: {{{}}}", fmt::join(keys, ", "));
  }
  return text + "}";
}

/// The option for a drafter from its name in the statistics of llama-server ("draft-mtp", "ngram_simple"); "" for
/// others.
std::string spec_type(std::string method) {
  if (method == "draft") method = "draft-simple";
  std::ranges::replace(method, '_', '-');
  const bool known = method.starts_with("draft-") || method.starts_with("ngram-");
  return known && is_plain_word(method) ? fmt::format("--spec-type {} ", method) : "";
}

std::string llama_cpp(const SettingsQuestion& question) {
  if (!question.gamma) return "";
  const std::string one_length = question.schedule.empty() ? "" : "  (llama-server has one draft length for all loads)";
  if (*question.gamma == 0) return "--spec-type none" + one_length;
  return fmt::format("{}--spec-draft-n-max {}  (builds before 2026: --draft-max {}){}", spec_type(question.method),
                     *question.gamma, *question.gamma, one_length);
}

std::string aiconfigurator(const SettingsQuestion& question) {
  if (!question.replayed_gamma || !question.tokens) return "";
  return fmt::format("--nextn {} --nextn-accepted {:.3f}", *question.replayed_gamma, *question.tokens - 1.0);
}

// ---- replay of acceptance on a test server

std::string vllm_synthetic(const SettingsQuestion& question) {
  if (!question.replayed_gamma || !question.tokens) return "";
  const std::string rates =
      question.marginal.empty()
          ? fmt::format("\"synthetic_acceptance_length\": {:.3f}", *question.tokens)
          : fmt::format("\"synthetic_acceptance_rates\": [{:.4f}]", fmt::join(question.marginal, ", "));
  return fmt::format("\"num_speculative_tokens\": {}, \"rejection_sample_method\": \"synthetic\", {}",
                     *question.replayed_gamma, rates);
}

std::string sglang_synthetic(const SettingsQuestion& question) {
  if (!question.tokens) return "";
  return fmt::format(
      "SGLANG_SIMULATE_ACC_LEN={:.3f} SGLANG_SIMULATE_ACC_METHOD=match-expected "
      "SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token",
      *question.tokens);
}

std::string trtllm_synthetic(const SettingsQuestion& question) {
  if (!question.tokens) return "";
  return fmt::format("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS={:.3f}", *question.tokens - 1.0);
}

// ---- monitoring

/// The metrics of an engine for its acceptance length and its running requests.
struct EngineMetrics {
  std::string_view engine, length, running;
};

/// SGLang exports its gauges once per rank, hence avg and max.
constexpr std::array engine_metrics{
    EngineMetrics{"vllm",
                  "1 + sum(rate(vllm:spec_decode_num_accepted_tokens_total[10m]))\n"
                  "      / sum(rate(vllm:spec_decode_num_drafts_total[10m]))",
                  "sum(vllm:num_requests_running)"},
    EngineMetrics{"sglang", "avg(avg_over_time(sglang:spec_accept_length{engine_type!=\"draft\"}[10m]))",
                  "sum(max by (instance, dp_rank) (sglang:num_running_reqs{engine_type!=\"draft\"}))"},
    EngineMetrics{"llama.cpp",
                  "1 + sum(rate(llamacpp:spec_decode_num_accepted_tokens_total[10m]))\n"
                  "      / sum(rate(llamacpp:spec_decode_num_drafts_total[10m]))",
                  "sum(llamacpp:requests_processing)"},
    EngineMetrics{"tensorrt-llm", "avg(avg_over_time(trtllm_spec_decode_acceptance_length[10m]))",
                  "sum(trtllm_num_requests_running)"},
};

/// The metrics of an engine; those of vLLM if it is unknown.
const EngineMetrics& metrics_of(std::string_view engine) {
  const auto* found = std::ranges::find(engine_metrics, engine, &EngineMetrics::engine);
  return found == engine_metrics.end() ? engine_metrics.front() : *found;
}

std::string prometheus(const SettingsQuestion& question) {
  if (question.break_even.empty()) return "";
  const EngineMetrics& metrics = metrics_of(question.engine);
  std::string text = fmt::format(
      "groups:\n- name: speculative_decoding\n  rules:\n  - record: spec_decode:acceptance_length\n"
      "    expr: >-\n      {}",
      metrics.length);
  double from = 0.0;
  for (std::size_t i = 0; i < question.break_even.size(); ++i) {
    const BreakEven& here = question.break_even[i];
    const bool last = i + 1 == question.break_even.size();
    const double to = last ? here.requests * 2.0 : std::sqrt(here.requests * question.break_even[i + 1].requests);
    text += fmt::format(
        "\n  - alert: SpeculationDoesNotPayAt{:.0f}\n    expr: >-\n      spec_decode:acceptance_length < {:.3f}\n"
        "      and on() ({} > {:.4g})\n"
        "      and on() ({} <= {:.4g})"
        "\n    for: 15m",
        here.requests, here.tokens, metrics.running, from, metrics.running, to);
    from = to;
  }
  return text;
}

constexpr std::array exports{
    EngineExport{"vllm", "--speculative-config of vLLM", vllm},
    EngineExport{"sglang", "options of sglang.launch_server", sglang},
    EngineExport{"trtllm", "speculative_config of TensorRT-LLM; the version must be known", trtllm},
    EngineExport{"llama.cpp", "options of llama-server", llama_cpp},
    EngineExport{"lmdeploy", "options of lmdeploy serve api_server", lmdeploy},
    EngineExport{"aiconfigurator", "--nextn and the accepted drafts", aiconfigurator},
    EngineExport{"vllm-synthetic", "replays this acceptance on a vLLM test server", vllm_synthetic},
    EngineExport{"sglang-synthetic", "likewise, environment of SGLang", sglang_synthetic},
    EngineExport{"trtllm-synthetic", "likewise, environment of TensorRT-LLM", trtllm_synthetic},
    EngineExport{"prometheus", "recording and alert rules with the break-even acceptance length", prometheus},
};

std::vector<double> marginal_at(const analytic::AcceptanceFit& fit, std::int64_t gamma) {
  const auto counts = std::ranges::find(fit.counts, gamma, &analytic::PooledCounts::gamma);
  if (counts != fit.counts.end()) return counts->marginal;
  return fit.model ? analytic::accepted_shares(*fit.model, gamma) : std::vector<double>{};
}

}  // namespace

std::span<const EngineExport> engine_exports() { return exports; }

SettingsQuestion settings_question(const Advice& advice, std::string_view version) {
  SettingsQuestion question{.method = advice.settings.method.value_or(""),
                            .draft = advice.settings.draft.value_or(""),
                            .engine = advice.engine,
                            .version = version.empty() ? advice.version : std::string(version)};
  if (advice.curve() != nullptr && !advice.curve()->setting.drafter.empty()) {
    question.method = advice.curve()->setting.drafter;
  }
  question.replayed_gamma = advice.gamma_observed;
  if (advice.recommendation) {
    if (!advice.recommendation->adaptive) question.gamma = advice.recommendation->gamma;
    question.schedule = advice.recommendation->schedule;
    if (question.gamma.value_or(0) > 0) question.replayed_gamma = question.gamma;
  }
  if (advice.tokens_observed) question.tokens = advice.tokens_observed->mean;
  if (advice.fit() != nullptr && question.replayed_gamma) {
    const analytic::TokensAtGamma* tokens = advice.curve()->at(*question.replayed_gamma);
    if (tokens != nullptr && std::isfinite(tokens->value)) question.tokens = tokens->value;
    question.marginal = marginal_at(*advice.fit(), *question.replayed_gamma);
  }
  std::map<double, double> tokens;  // by requests in flight; of several loads the least
  for (const LoadAdvice& load : advice.loads) {
    if (!load.chain || !load.requests || load.load.request_rate_per_s) continue;
    const double here = load.iteration_ms->mean / load.plain_ms->mean;
    const auto [known, added] = tokens.emplace(*load.requests, here);
    if (!added) known->second = std::min(known->second, here);
  }
  for (const auto& [requests, needed] : tokens) question.break_even.push_back({requests, needed});
  return question;
}

std::string settings_for(const Advice& advice, std::string_view engine, std::string_view version) {
  const std::string_view name = engine == "tensorrt-llm" ? "trtllm" : engine;
  const auto* found = std::ranges::find(exports, name, &EngineExport::name);
  return found == exports.end() ? "" : found->text(settings_question(advice, version));
}

bool needs_version(std::string_view engine) { return engine == "trtllm"; }

}  // namespace foredraft::answers
