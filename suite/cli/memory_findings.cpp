// Findings about the memory.
#include <fmt/format.h>

#include "suite/cli/live_progress.hpp"
#include "suite/cli/machine_findings.hpp"

namespace assay::cli {
namespace {

/// Assumed: with less, larger experiments do not fit.
constexpr double little_memory_bytes = 4e9;
constexpr double little_available_bytes = 1e9;
constexpr double most_swap_share = 0.05;  ///< of the memory

Finding memory(const measure::MemoryState& state) {
    if (!state.bytes) return {Level::ok, "memory", "not told"};
    const double bytes = static_cast<double>(*state.bytes);
    std::string text = bytes_text(bytes);
    bool short_of_it = bytes < little_memory_bytes;
    if (state.available_bytes) {
        const double available = static_cast<double>(*state.available_bytes);
        text += fmt::format(", {} available", bytes_text(available));
        short_of_it = short_of_it || available < little_available_bytes;
    }
    return {short_of_it ? Level::warn : Level::ok, "memory",
            short_of_it ? text + "; little: large experiments may not fit" : text};
}

Finding swap(const measure::MemoryState& state) {
    const double all = static_cast<double>(*state.swap_bytes);
    const double used =
        all - static_cast<double>(state.swap_free_bytes.value_or(*state.swap_bytes));
    if (all == 0) return {Level::ok, "swap", "none"};
    const bool much = used > most_swap_share * static_cast<double>(state.bytes.value_or(0));
    return {much ? Level::warn : Level::ok, "swap",
            fmt::format("{} of {} used{}", bytes_text(used), bytes_text(all),
                        much ? "; memory is short, and what comes back from disk is slow" : "")};
}

Finding numa(const measure::MemoryState& state) {
    if (state.numa_nodes < 2) return {Level::ok, "numa", "one node"};
    if (state.numa_balancing.value_or(false))
        return {Level::warn, "numa",
                fmt::format("{} nodes, and the kernel moves pages between them while samples run; "
                            "sysctl kernel.numa_balancing=0",
                            state.numa_nodes)};
    return {Level::ok, "numa",
            fmt::format("{} nodes; numactl binds a run to one of them", state.numa_nodes)};
}

Finding huge_pages(const std::string& mode) {
    if (mode != "always") return {Level::ok, "huge pages", mode};
    return {Level::warn, "huge pages",
            "always: whether memory gets them changes from process to process; write madvise to "
            "/sys/kernel/mm/transparent_hugepage/enabled"};
}

}  // namespace

std::vector<Finding> memory_findings(const measure::MemoryState& state) {
    std::vector<Finding> findings{memory(state)};
    if (state.swap_bytes) findings.push_back(swap(state));
    if (state.numa_nodes > 0) findings.push_back(numa(state));
    if (!state.transparent_huge_pages.empty())
        findings.push_back(huge_pages(state.transparent_huge_pages));
    return findings;
}

}  // namespace assay::cli
