// Any text is a plan: its nodes depend on such before them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "impls/plato/policy/plan_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    assay::plato::PlanParser plan;
    plan.feed(std::string_view(reinterpret_cast<const char*>(data), size));
    plan.finish();
    if (plan.nodes().size() > assay::plato::PlanParser::most_nodes) std::abort();
    for (std::size_t i = 0; i < plan.nodes().size(); ++i)
        for (const int before : plan.nodes()[i].dependencies)
            if (before < 1 || before > static_cast<int>(i)) std::abort();
    return 0;
}
