// What a modelled cluster does while it does not work: a ledger of its pauses, by kind.
#pragma once

#include <algorithm>
#include <vector>

namespace assay::drive {

/// `Kind`: the system's own, an enumeration.
template <class Kind>
class Pauses {
  public:
    struct Span {
        Kind kind;
        double from, to;  ///< scenario seconds
    };

    /// Spans come in the order of their beginnings and do not overlap; empty ones are left out.
    void add(Kind kind, double from, double to) {
        if (to > from) spans_.push_back({kind, from, to});
    }
    /// What was to last longer is broken off.
    void end_at(double t_s) {
        for (auto& span : spans_) span.to = std::min(span.to, std::max(span.from, t_s));
    }
    /// Seconds of a kind before `end_s`.
    double seconds(Kind kind, double end_s) const {
        double sum = 0;
        for (const auto& span : spans_)
            if (span.kind == kind) sum += std::max(0.0, std::min(span.to, end_s) - span.from);
        return sum;
    }
    const std::vector<Span>& spans() const { return spans_; }

  private:
    std::vector<Span> spans_;
};

}  // namespace assay::drive
