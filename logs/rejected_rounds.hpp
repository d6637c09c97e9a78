// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "logs/log_format.hpp"

namespace foredraft::logs {

/// KoboldCpp counts accepted drafts and rounds that a rejection ended, not all rounds: the rounds of such answers
/// (steps of 0, `generated_tokens` of drafts that were checked) from their tokens, of answers without a token beside a
/// draft that was accepted whole from their draft lengths, else nothing. Warns of estimates (W20) and of what is not
/// used (W18).
void count_rejected_rounds(LogContents& contents);

}  // namespace foredraft::logs
