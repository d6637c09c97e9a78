// SPDX-License-Identifier: Apache-2.0
#include "sim/process/overlapped_drafting.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/check.hpp"
#include "core/intervals.hpp"
#include "core/parallel.hpp"
#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::sim {
namespace {

using Ticks = std::int64_t;
constexpr Ticks decode_step = 1'000'000'000;

/// Runs one forward pass at a time, in the order of the calls.
class Worker {
 public:
  /// End time of a pass that can start at `ready`.
  Ticks run(Ticks ready, Ticks duration) { return free_ = std::max(free_, ready) + duration; }

 private:
  Ticks free_ = 0;
};

/// Emitted tokens and time of a run.
struct OverlappedRun {
  std::int64_t tokens;
  Ticks time;
};

class Overlapped {
 public:
  Overlapped(const OverlappedDrafting& drafting, const RunKey& key)
      : drafting_(drafting),
        draft_step_(std::llround(drafting.c * static_cast<double>(decode_step))),
        random_(key.seed, {.purpose = Purpose::bernoulli, .point = key.point, .block = 0}),
        stop_(key.stop) {}

  OverlappedRun next() {
    switch (drafting_.schedule) {
      case Overlap::none:
        return in_turn();
      case Overlap::pearl:
        return in_stages();
      case Overlap::dsi:
        // On one device, gamma drafts are verified before others are drafted, so the verification's last token is used.
        return drafting_.shared ? in_turn() : without_pause();
    }
    throw std::logic_error("unknown schedule");
  }

 private:
  bool accepts() {
    stop_.spend(1);
    return random_.uniform() < drafting_.alpha;
  }

  OverlappedRun in_turn() {
    Worker worker;  // the drafter always waits for the target
    Ticks now = 0;
    for (std::int64_t i = 0; i < drafting_.gamma; ++i) now = worker.run(now, draft_step_);
    now = worker.run(now, decode_step);
    std::int64_t tokens = 1;
    while (tokens <= drafting_.gamma && accepts()) ++tokens;
    return {tokens, now};
  }

  OverlappedRun in_stages() {
    Worker drafter;
    Worker target;
    Ticks now = 0;
    const auto stage = [&] {
      Ticks drafted = now;
      for (std::int64_t i = 0; i < drafting_.gamma; ++i) drafted = drafter.run(now, draft_step_);
      const Ticks verified = (drafting_.shared ? drafter : target).run(now, decode_step);
      now = std::max(drafted, verified);
    };
    stage();  // verifies the first of its drafts
    std::int64_t tokens = 1;
    if (!accepts()) return {tokens, now};
    for (;;) {
      stage();  // verifies the other drafts of the previous stage and the first of its own
      for (std::int64_t i = 0; i < drafting_.gamma; ++i) {
        ++tokens;
        if (!accepts()) return {tokens, now};
      }
    }
  }

  OverlappedRun without_pause() {
    Worker drafter;
    Ticks known = 0;               // the tokens before this position are known
    Ticks verified = decode_step;  // end of the pass with `drafts` drafts in its prefix
    std::int64_t drafts = 0;
    for (std::int64_t position = 1;; ++position) {
      if (drafts < position - 1) {
        Ticks drafted = 0;
        for (std::int64_t i = 0; i < drafting_.gamma; ++i) drafted = drafter.run(0, draft_step_);
        drafts += drafting_.gamma;
        verified = drafted + decode_step;
      }
      known = std::min(known + decode_step, std::max(known, verified));
      if (!accepts()) return {position, known};
    }
  }

  OverlappedDrafting drafting_;
  Ticks draft_step_;
  RandomStream random_;
  StopMeter stop_;
};

}  // namespace

Estimate overlapped_speedup(const OverlappedDrafting& drafting, std::uint64_t runs, const RunKey& key) {
  check_probability("alpha", drafting.alpha);
  if (drafting.alpha == 1.0) throw DomainError("invalid alpha=1 (must be below 1 to simulate: no draft is rejected)");
  check_range("gamma", drafting.gamma, 1, 1'000'000);
  check_probability("c", drafting.c);
  check_at_least("runs", static_cast<std::int64_t>(runs), 2);
  Overlapped simulated(drafting, key);
  IntegerMoments<2> moments;
  for (std::uint64_t i = 0; i < runs; ++i) {
    const OverlappedRun run = simulated.next();
    moments.add({run.tokens, run.time});
  }
  return ratio_estimate(moments, {static_cast<double>(decode_step), 0.0}, {0.0, 1.0});
}

}  // namespace foredraft::sim
