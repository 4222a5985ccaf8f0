// Links that faults have struck: how much later what passes over them arrives.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "impls/lazarus/policy/controller/protocol.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::lazarus {

/// Latencies and cuts; a cut link delays until it heals. Bandwidth and loss have no meaning where
/// messages have no size.
class Links {
  public:
    /// `link`: a fault of that kind, in force until then; infinity: for good.
    void spoil(const Fault& link, double until_s) { spoiled_.push_back({link, until_s}); }

    /// Seconds that faults add to what `a` sends to `b` at `now_s`; infinity: it never arrives.
    double delay_s(Worker a, Worker b, double now_s) const {
        double sum = 0;
        for (const Spoiled& one : spoiled_)
            if (one.touches(a) && one.touches(b) && (one.is_end(a) || one.is_end(b)))
                sum += one.delay_s(now_s);
        return sum;
    }

    /// The worst link between any two of `workers`, and who is at its end.
    struct Worst {
        double delay_s = 0;
        Worker end = -1;  ///< -1: all links are good
    };
    Worst worst_among(std::span<const Worker> workers, double now_s) const {
        Worst worst;
        if (spoiled_.empty()) return worst;
        for (const Worker a : workers) {
            for (const Spoiled& one : spoiled_) {
                if (one.link.rank != a || one.delay_s(now_s) <= worst.delay_s) continue;
                const bool used = std::any_of(workers.begin(), workers.end(),
                                              [&](Worker b) { return b != a && one.touches(b); });
                if (used) worst = {one.delay_s(now_s), a};
            }
        }
        return worst;
    }

  private:
    struct Spoiled {
        Fault link;
        double until_s;
        bool is_end(Worker one) const { return link.rank == one; }
        bool touches(Worker one) const { return is_end(one) || !link.peer || link.peer == one; }
        double delay_s(double now_s) const {
            if (now_s >= until_s) return 0;
            return link.cut ? until_s - now_s : link.latency_s;
        }
    };
    std::vector<Spoiled> spoiled_;
};

}  // namespace assay::lazarus
