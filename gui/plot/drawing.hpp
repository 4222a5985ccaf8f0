// What is drawn anew for whatever part of its axes one wants to see.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "suite/report/figures/plot.hpp"
#include "suite/report/figures/view_window.hpp"

namespace assay::gui {

struct Drawing {
    std::shared_ptr<const report::Plot> whole;  ///< null: there is nothing to see
    /// Null: the whole is all there is.
    std::function<report::Plot(const report::ViewWindow&)> part;
    bool zooms_y = false;  ///< else only along x
    std::string x_unit;
    /// What happened between two values of x, as words; may be null.
    std::function<std::string(const report::Range&)> between;
};

}  // namespace assay::gui
