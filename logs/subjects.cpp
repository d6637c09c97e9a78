// SPDX-License-Identifier: Apache-2.0
#include "logs/subjects.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <set>

#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"

namespace foredraft::logs {

std::vector<double> loads_in(std::string_view text) {
  static const RE2 load(R"((?i)(?:\b(?:(?:c|bs|np) ?= ?|)" + std::string(counts_of_users) +
                        R"(|(?:concurrency|batch(?:[-_ ]?size)?)(?: of)?[ =:]{1,3})(\d{1,4})\b)"
                        R"(|\b(\d{1,4})(?: (?:concurrent|parallel|simultaneous) |-way (?:concurren|parallel|batch))))");
  re2::StringPiece rest = text;
  std::vector<double> loads;
  std::string named, counted;
  while (RE2::FindAndConsume(&rest, load, &named, &counted)) {
    std::string_view digits = named.empty() ? counted : named;
    const auto requests = take_number(digits);
    if (requests && std::ranges::find(loads, *requests) == loads.end()) loads.push_back(*requests);
  }
  return loads;
}

bool names_one_request(std::string_view text) {
  static const RE2 one(fmt::format(R"((?i)\b(?:{}|{}|unloaded)\b)", words_of_one_request, ways_of_one_request));
  return RE2::PartialMatch(piece(text), one);
}

Subject subject_in(std::string_view text) {
  static const RE2 engine(
      R"((?i)\b(vllm|sglang|(?:ik_)?llama\.cpp|ollama|lm ?studio|o?mlx(?:[-_](?:lm|vlm))?|exllama\w*|lmdeploy|trt-?llm)"
      R"(|tensorrt-?llm)\b)");
  static const RE2 with_version(R"((?i)\b([a-z][\w-]*) +v?\d+\.\d+\.\d+)"), size(R"((?i)\b(\d+(?:\.\d+)?b)\b)");
  static const RE2 family(
      "(?i)\\b(qwen|llama|gemma|mistral|devstral|deepseek|glm|gpt-oss|phi|kimi|minimax|granite|nemotron)(?:[^a-z.]|$)");
  static const RE2 quantization(
      R"((?i)(?:\b|[_-])((?:i?q|oq)\d(?:_\w+|e)?|fp8|bf16|fp16|int[48]|nvfp4|mxfp4|awq|gptq)\b)");
  static const RE2 drafter(R"((?i)\b\d+(?:\.\d+)?b[\w-]* draft\w*|\bdraft\w*(?: model)?[ (:=]+[\w.-]*\d+(?:\.\d+)?b\b)"
                           R"(|\(?[\w./-]*\d(?:\.\d+)?b[\w.-]*\)? as (?:an? |the |its )?draft)");
  std::string target(text);
  RE2::GlobalReplace(&target, drafter, "");
  Subject subject;
  if (!RE2::PartialMatch(text, with_version, &subject.engine)) RE2::PartialMatch(text, engine, &subject.engine);
  RE2::PartialMatch(text, family, &subject.family);
  RE2::PartialMatch(target, size, &subject.size);
  RE2::PartialMatch(text, quantization, &subject.quantization);
  for (std::string* name : {&subject.engine, &subject.family, &subject.size, &subject.quantization})
    *name = in_lower_case(*name);
  return subject;
}

std::string model_in(std::string_view text) {
  static const RE2 size(R"((?i)\b(\d+(?:\.\d+)?b)\b)");
  std::set<std::string> sizes;
  re2::StringPiece rest = piece(text);
  for (std::string one; RE2::FindAndConsume(&rest, size, &one);) sizes.insert(in_lower_case(one));
  const Subject subject = subject_in(text);
  if (sizes.size() != 1 || subject.size.empty()) return {};
  return subject.family.empty() ? subject.size : fmt::format("{} {}", subject.family, subject.size);
}

bool may_be_compared(const Subject& one, const Subject& other) {
  const auto same = [](const std::string& a, const std::string& b) { return a.empty() || b.empty() || a == b; };
  return same(one.engine, other.engine) && same(one.family, other.family) && same(one.size, other.size) &&
         same(one.quantization, other.quantization);
}

}  // namespace foredraft::logs
