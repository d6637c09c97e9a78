// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answers/advice.hpp"
#include "core/digest.hpp"
#include "core/problems.hpp"
#include "inputs/observed_acceptance.hpp"
#include "inputs/read_model.hpp"
#include "inputs/request_field.hpp"
#include "logs/observations_file.hpp"

/// A request for advice with names of files and models, from the command `advise` or Python's advise().
namespace foredraft::inputs {

struct AdviceRequest {
  std::vector<std::string> logs = {}, plain = {};  ///< paths. plain: logs of the same load without speculation
  std::string format = {};                         ///< format of `logs` as in read_logs(); empty: detect
  std::string engine = {}, engine_version = {};    ///< engine to write settings for; empty: as in the logs
  /// Source of times at draft lengths that were not logged: a name for read_device() or read_profile(), at most one;
  /// empty: use only logged times.
  std::string device = {}, profile = {};
  std::string target = {}, draft = {};
  std::optional<std::int64_t> batch = {};     ///< concurrent requests, if not in the logs
  std::optional<std::int64_t> context = {};   ///< tokens; default 512
  std::optional<double> gpu_hour_price = {};  ///< of one GPU, in any currency
  std::optional<std::int64_t> gpus = {};      ///< GPUs of the logged server; default 1
  AskedDeployment deployment = {};
};

/// The source that messages about a request name.
inline constexpr std::string_view advice_source = "foredraft advise";

/// All fields except logs and deployment (deployment_fields()).
[[nodiscard]] std::span<const RequestField<AdviceRequest>> advice_fields();

/// Adds problems for missing, unknown and contradicting values.
void check(const AdviceRequest& request, ProblemList& problems);

/// read_logs() with the progress and the interrupts of the program.
using ReadLogs = std::function<std::vector<logs::ObservedLog>(const std::vector<std::string>& paths,
                                                              std::string_view format, OtherFiles others)>;

struct ReadAdvice {
  answers::AdviceQuestion question;
  std::vector<FileDigest> files = {};   ///< files that were read
  std::vector<std::string> notes = {};  ///< about the models, one sentence each
};

/// Reads the files and models of a checked request, and predicts times if it names a device. Throws InputError for
/// files that cannot be read, models that cannot be combined, and times that cannot be predicted.
[[nodiscard]] ReadAdvice read_advice(const AdviceRequest& request, const ReadLogs& read);

/// Settings for the requested engine, else for the logged one; empty if there are none. Throws InputError if their
/// meaning depends on an unknown version of the requested engine.
[[nodiscard]] std::string settings_of(const AdviceRequest& request, const answers::Advice& advice);

}  // namespace foredraft::inputs
