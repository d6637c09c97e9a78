// SPDX-License-Identifier: Apache-2.0
#include "answers/method_contexts.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "sim/token/pooled/text_contexts.hpp"

namespace foredraft::answers {
namespace {

/// sum min(p, q) of each context.
std::vector<double> overlaps(const GivenDistributions& contexts) {
  std::vector<double> all;
  for (std::size_t k = 0; k < contexts.target.size(); ++k) {
    all.push_back(std::transform_reduce(contexts.target[k].begin(), contexts.target[k].end(), contexts.draft[k].begin(),
                                        0.0, std::plus{}, [](double p, double q) { return std::min(p, q); }));
  }
  return all;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// As PairContexts::concentration(), of these acceptance rates.
double concentration_of(const std::vector<double>& acceptances) {
  const double mean = mean_of(acceptances);
  double squares = 0.0;
  for (const double acceptance : acceptances) squares += (acceptance - mean) * (acceptance - mean);
  const double variance = squares / static_cast<double>(acceptances.size());
  constexpr double least = 1e-3;
  constexpr double most = 1e6;  // all contexts are alike
  return std::clamp(mean * (1.0 - mean) / variance - 1.0, least, most);
}

}  // namespace

PairContexts::PairContexts(const MethodsPair& pair, std::uint64_t seed, StopToken stop) : name_(pair.name) {
  if (const auto* text = std::get_if<NgramModels>(&pair.models)) {
    text_ = *text;
    contexts_ = sim::text_contexts(*text->trained, pair.pool, seed, stop);
  } else {
    contexts_ = sim::SyntheticPool(std::get<SyntheticModels>(pair.models), seed, stop);
  }
  concentration_ = concentration_of(overlaps(at(1.0)));
}

GivenDistributions PairContexts::at(double temperature) const {
  const sim::TokenSampling sampling{.target = {.temperature = temperature}, .draft = {.temperature = temperature}};
  const auto* pool = std::get_if<sim::SyntheticPool>(&contexts_);
  return pool != nullptr ? sim::written_out(*pool, sampling)
                         : sim::as_drawn(std::get<GivenDistributions>(contexts_), sampling);
}

double mean_acceptance(const GivenDistributions& contexts) { return mean_of(overlaps(contexts)); }

std::vector<DraftContext> draft_contexts(const GivenDistributions& contexts, std::int64_t width) {
  std::vector<DraftContext> all;
  for (std::size_t k = 0; k < contexts.draft.size(); ++k) {
    const std::vector<double>& q = contexts.draft[k];
    std::vector<std::size_t> order(q.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto kept = std::min<std::ptrdiff_t>(width, std::ssize(q));
    std::partial_sort(order.begin(), order.begin() + kept, order.end(),
                      [&](std::size_t a, std::size_t b) { return q[a] != q[b] ? q[a] > q[b] : a < b; });
    DraftContext& context = all.emplace_back();
    context.probability = 1.0 / static_cast<double>(contexts.draft.size());
    for (std::ptrdiff_t i = 0; i < kept; ++i) {
      context.accuracies.push_back(contexts.target[k][order[static_cast<std::size_t>(i)]]);
      context.confidences.push_back(q[order[static_cast<std::size_t>(i)]]);
    }
  }
  return all;
}

std::vector<double> mean_accuracies(const std::vector<DraftContext>& contexts) {
  std::vector<double> mean(contexts.front().accuracies.size(), 0.0);
  for (const DraftContext& context : contexts) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += context.probability * context.accuracies[i];
  }
  return mean;
}

}  // namespace foredraft::answers
