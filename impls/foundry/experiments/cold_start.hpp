// A cold start in virtual time: one thread makes the driver's calls, others prepare members, and
// the first launches wait for what is not there yet (specification 3.9). What method/ready_time.hpp
// says in closed form, and what is paid once the server is ready.
#pragma once

#include "impls/foundry/method/ready_time.hpp"

namespace assay::foundry {

/// How a server comes by its graphs.
enum class Start { capture, lazy_capture, no_templates, r1, r3_lazy, r3_eager };
ASSAY_NAMES(Start, capture, lazy_capture, no_templates, r1, r3_lazy, r3_eager)

/// When a server counts as ready: once each member is prepared (r3_eager: instantiated), or once
/// templates are built, while members are still being prepared. Published accounts of the paper do
/// not say which it means (specification 9.4).
enum class Members { with, without };
ASSAY_NAMES(Members, with, without)

struct ColdStart {
    Start start{};
    Members members{};
    Costs costs;
    int graphs = 0, groups = 0;
};

struct ColdStartTimes {
    double ready_s = 0;
    /// From ready until each graph was launched once, one after the other in capture order:
    /// updates, instantiations, captures and waiting, without the graphs' own time.
    double first_launches_s = 0;
};

ColdStartTimes cold_start(const ColdStart& setup);

}  // namespace assay::foundry
