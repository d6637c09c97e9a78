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
#include "inputs/read_model.hpp"
#include "inputs/request_field.hpp"
#include "logs/observations_file.hpp"

/// A question about logs, by the names of its files and models: what the command `advise` and Python's advise() ask.
namespace foredraft::inputs {

struct AdviceRequest {
  std::vector<std::string> logs = {}, plain = {};  ///< paths; plain: the same load without speculation
  std::string format = {};                         ///< of `logs`, as in read_logs(); empty: by content
  std::string engine = {}, engine_version = {};    ///< to write settings for; empty: those of the logs
  /// Times at draft lengths that were not logged, for a target and a draft: names of read_device() and read_profile(),
  /// at most one of them; empty: logged times alone.
  std::string device = {}, profile = {};
  std::string target = {}, draft = {};
  std::optional<std::int64_t> batch = {};     ///< requests in flight, where the logs do not say it
  std::optional<std::int64_t> context = {};   ///< tokens; default 512
  std::optional<double> gpu_hour_price = {};  ///< of one GPU, in any currency
  std::optional<std::int64_t> gpus = {};      ///< of the server that was logged; default 1
  AskedDeployment deployment = {};
};

/// Where messages of a request come from.
inline constexpr std::string_view advice_source = "foredraft advise";

/// All but the logs and the deployment (deployment_fields()).
[[nodiscard]] std::span<const RequestField<AdviceRequest>> advice_fields();

/// Adds a problem for each thing that is missing, unknown or does not go with another.
void check(const AdviceRequest& request, ProblemList& problems);

/// How logs are read: paths, format.
using ReadLogs =
    std::function<std::vector<logs::ObservedLog>(const std::vector<std::string>& paths, std::string_view format)>;

struct ReadAdvice {
  answers::AdviceQuestion question;
  std::vector<FileDigest> files = {};   ///< that were read
  std::vector<std::string> notes = {};  ///< on the models, one sentence each
};

/// Reads what a checked request names, and predicts times if it names a device. Throws InputError for files that cannot
/// be read, models that do not fit together, and times that cannot be predicted.
[[nodiscard]] ReadAdvice read_advice(const AdviceRequest& request, const ReadLogs& read);

/// Settings of the asked engine, else of the logged one; empty: there are none. Throws InputError for an asked engine
/// whose unknown version decides what they mean.
[[nodiscard]] std::string settings_of(const AdviceRequest& request, const answers::Advice& advice);

}  // namespace foredraft::inputs
