// SPDX-License-Identifier: Apache-2.0
#include "logs/draft_options.hpp"

#include <re2/re2.h>

#include "logs/arms.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"
#include "logs/record_fields.hpp"

namespace foredraft::logs {

void DraftOptions::read(std::string_view text) {
  static const RE2 option(
      R"re((?:--(?:speculative[-_](?:model|config|algorithm|algo|draft-model-path)|with[-_]speculation|draft-?model|model-draft)|[ \t]-dm)[ \t=]+[^\w \t]*(\w+))re",
      byte_options());
  static const RE2 setting(R"re(\bdecoding_type["']?[ \t]*[:=][ \t]*["']?(\w+))re", byte_options());  // TensorRT-LLM's
  static const RE2 method(
      R"re((?i)(?:\bmethod["']?[ \t:=]+["']?|--(?:spec\S*[-_])?(?:algo(?:rithm)?|type|draft[-_]kind)[ \t=]+["']?(?:draft-)?|--spec\S*model[ \t=]+["']?\[|(?:^|[ \t])--?)((?:)re" +
          std::string(names_of_drafters) + R"re()\w*))re",
      byte_options());
  static const RE2 length(
      R"re((?i)(?:--(?:num[-_](?:spec(?:ulative)?|draft)[-_]tokens|draftamount|speculate)[ \t=]+|[ \t]-ndt[ \t=]+|\b(?:num[-_]spec(?:ulative)?[-_]tokens|(?:mtp_)?num_draft_tokens|draft_num_(?:predict|tokens)|prompt_lookup_num_tokens)\W{1,4}|\b(?:num_nextn_predict_layers|max_draft_len)["']?[ \t]*[:=][ \t]*)(\d{1,4})\b)re",
      byte_options());
  // Scripts of assisted generation, which may run both arms: only the length is of the one that drafts.
  static const RE2 assistant(
      R"re(--(?:draft|assistant|aux)(?:er)?(?:[-_]?(?:model|checkpoint))?(?:[-_](?:id|name|path))?[ \t=]+["']?[a-zA-Z./~])re",
      byte_options());
  static const RE2 length_of_script(
      R"re(--(?:k|gamma|num[-_]assistant[-_]tokens|draft[-_](?:k|len(?:gth)?|tokens|steps))[ \t=]+(\d{1,3})\\?(?:\s*$|\s+[^\s\d]))re",
      byte_options());
  // ExLlama's: drafts end where the drafter is unsure.
  static const RE2 dynamic(R"re([ \t](?:-dds|--dynamic[-_]draft)(?:[ \t\\]|$))re", byte_options());
  static const RE2 at_most(R"re((?:[ \t]-dn|--draft[-_]n[-_]tokens)[ \t=]+(\d{1,3})\b)re", byte_options());
  static const RE2 block_size(R"re(--draft[-_]block[-_]size[ \t=]+(\d{1,3})\b)re", byte_options());
  static const RE2 off("(?i)none|false|0");
  ends_early = ends_early || RE2::PartialMatch(piece(text), dynamic);
  std::string value;
  if (RE2::PartialMatch(piece(text), setting, &value) || RE2::PartialMatch(piece(text), option, &value))
    drafts = !RE2::FullMatch(value, off);
  if (RE2::PartialMatch(piece(text), method, &value)) drafter = in_lower_case(value);
  if (std::int64_t drafted = 0; RE2::PartialMatch(piece(text), length, &drafted)) {
    drafts = drafts || drafted > 0;
    tokens = drafted;
  }
  if (std::int64_t drafted = 0; RE2::PartialMatch(piece(text), at_most, &drafted)) {
    tokens = drafted;
    ends_early = true;
  }
  if (std::int64_t all = 0; RE2::PartialMatch(piece(text), block_size, &all) && all > 1) block = all;
  has_assistant = has_assistant || RE2::PartialMatch(piece(text), assistant);
  if (std::int64_t drafted = 0; has_assistant && RE2::PartialMatch(piece(text), length_of_script, &drafted) && drafted)
    tokens = drafted;
  static const RE2 of_eagle(R"re(--(depth|top[-_]k|total[-_]token)[ \t=]+(\d{1,4})(?:[ \t\\]|\s*$))re", byte_options());
  std::int64_t size = 0;
  for (re2::StringPiece rest = piece(text); RE2::FindAndConsume(&rest, of_eagle, &value, &size);)
    (value == "depth" ? eagle.steps : value.starts_with("total") ? eagle.tokens : eagle.width) = size;
  drafts = drafts || eagle.tokens > 0;
  sglang.read(text);
  llama.read(text);
  drafts = drafts || llama.drafts();
}

/// Drafters of mlx-vlm make blocks shorter where drafts fail; that of MTP does so only beyond the usual size.
bool DraftOptions::is_most() const {
  constexpr std::int64_t usual = 4;
  return ends_early || (block && (drafter != "mtp" || *block > usual));
}

std::optional<std::int64_t> DraftOptions::gamma() const {
  if (is_most()) return std::nullopt;
  if (block) return *block - 1;
  return tokens ? tokens : llama.drafts() ? llama.gamma() : sglang.gamma();
}

std::optional<std::int64_t> DraftOptions::most() const {
  if (!is_most()) return llama.most();
  return block ? std::optional(*block - 1) : tokens;
}

std::optional<DraftTree> DraftOptions::tree() const {
  const auto of_server = sglang.tree();
  return of_server ? of_server : tree_of_sizes(eagle.steps, eagle.width, eagle.tokens);
}

bool DraftOptions::looks_up() const { return drafts && drafter && looks_tokens_up(*drafter); }

}  // namespace foredraft::logs
