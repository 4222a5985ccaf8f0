// A row's interval as a small picture: left faster, right slower, the margin shaded.
#pragma once

#include <string>
#include <vector>

#include "suite/gate/night.hpp"

namespace assay::gate {

/// All strips of a page have one scale, so that they can be compared by eye.
class Strips {
  public:
    explicit Strips(const Night&);
    /// Inline SVG; empty for a row without a slowdown.
    std::string svg(const compare::Row&) const;
    /// "faster by 12 % … slower by 12 %": what the edges mean.
    std::string legend() const;

  private:
    double reach_ = 0;  ///< log of the slowdown at the right edge
};

}  // namespace assay::gate
