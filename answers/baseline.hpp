// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "answers/comparison.hpp"
#include "logs/observations_file.hpp"

/// Stored measurements of a log, to compare later logs with, such as those of the next version of an engine. Schema
/// foredraft.baseline/1: docs/schemas/baseline.schema.json.
namespace foredraft::answers {

/// The runs of A that have a metric, and their source `reference`, as a document. Replaces invalid UTF-8. Precondition:
/// A was a log.
[[nodiscard]] std::string baseline_text(const Comparison& comparison, const logs::ObservedLog& reference);

/// The baseline in a document. An estimate has one error source, with the stored standard error and degrees of freedom.
/// The runs are not paired with others. Throws InputError `source: key: ...` with every key that is missing, unknown or
/// wrong.
[[nodiscard]] Baseline parse_baseline(std::string_view text, const std::string& source);

}  // namespace foredraft::answers
