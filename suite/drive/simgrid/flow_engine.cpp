#include "suite/drive/simgrid/flow_engine.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "suite/base/error.hpp"

namespace assay::drive {
namespace {

namespace fs = std::filesystem;

constexpr const char* how_to_get_it =
    "scripts/dependencies fetches it; then configure and build again";

/// The module's one function. The number goes up with every change of FlowEngine or FlowPlatform,
/// so that a module of another build is refused.
constexpr const char* symbol = "assay_simgrid_engine_1";
using Create = FlowEngine*(const FlowPlatform&);

struct Module {
    Create* create = nullptr;
    std::string lacks;  ///< why there is nothing to create it with
};

/// Never closed: SimGrid is not made for that.
Module open_module() {
    if (!ASSAY_HAVE_SIMGRID)
        return {.lacks = fmt::format("this program was built without SimGrid, which simulates "
                                     "networks; {}",
                                     how_to_get_it)};
    std::error_code ignored;
    const fs::path file =
        fs::read_symlink("/proc/self/exe", ignored).parent_path() / "libassay_simgrid.so";
    if (!fs::exists(file, ignored))
        return {.lacks = fmt::format("{} is missing, which holds what needs SimGrid; copy it along "
                                     "with the program, or build the target assay_simgrid_module",
                                     file.string())};
    void* const handle = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    void* const found = handle ? ::dlsym(handle, symbol) : nullptr;
    if (!found)
        return {.lacks = fmt::format("{} cannot be loaded: {}; {}", file.string(), ::dlerror(),
                                     how_to_get_it)};
    return {.create = reinterpret_cast<Create*>(found)};
}

const Module& module() {
    static const Module opened = open_module();
    return opened;
}

}  // namespace

std::optional<std::string> flow_engine_lacks() {
    if (module().create) return std::nullopt;
    return module().lacks;
}

std::unique_ptr<FlowEngine> open_flow_engine(const FlowPlatform& platform) {
    static bool has_been_opened = false;
    if (const auto reason = flow_engine_lacks()) throw NotSupportedHere(*reason);
    if (has_been_opened)
        throw UserError(
            "SimGrid can be started once per process, and this one has had its network: run each "
            "simulation in a process of its own");
    has_been_opened = true;
    return std::unique_ptr<FlowEngine>(module().create(platform));
}

}  // namespace assay::drive
