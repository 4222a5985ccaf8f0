#include "kernels/plugin/cuda_plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "suite/base/error.hpp"

namespace assay::kernels {
namespace {

namespace fs = std::filesystem;
constexpr const char* variable = "ASSAY_KERNELS_CUDA";
constexpr const char* file_name = "libassay_kernels_cuda.so";

Plugin refused(std::string why) { return {nullptr, std::move(why)}; }

bool is_complete(const AssayKernels& kernels) {
    return kernels.name && kernels.create && kernels.destroy && kernels.last_error &&
           kernels.synchronise;
}

/// dlopen()'s own words for a missing file name the path twice and say nothing of a remedy.
Plugin not_loaded(const fs::path& file, const char* error) {
    std::error_code ignored;
    if (!fs::exists(file, ignored))
        return refused(
            fmt::format("CUDA kernels are not supported here: {} does not exist; build the target "
                        "assay_kernels_cuda where nvcc is installed, or name the file in {}",
                        file.string(), variable));
    return refused(fmt::format("CUDA kernels are not supported here: {} cannot be loaded: {}",
                               file.string(), error ? error : "no reason given"));
}

}  // namespace

fs::path cuda_plugin_file() {
    if (const char* const named = std::getenv(variable); named && *named) return named;
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return program.parent_path() / file_name;
}

Plugin load_plugin(const fs::path& file) {
    // An absolute path: a bare name would be looked for elsewhere.
    const fs::path path = fs::absolute(file);
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) return not_loaded(path, dlerror());
    const auto entry = reinterpret_cast<AssayPluginEntry>(dlsym(handle, ASSAY_PLUGIN_ENTRY));
    if (!entry)
        return refused(fmt::format("{} is no kernel plug-in: it has no {}(); mend {}",
                                   path.string(), ASSAY_PLUGIN_ENTRY, variable));
    const AssayKernels* const kernels = entry();
    if (!kernels) {
        const auto lack = reinterpret_cast<AssayPluginLack>(dlsym(handle, ASSAY_PLUGIN_LACK));
        return refused(fmt::format("CUDA kernels are not supported here: {}",
                                   lack ? lack()
                                        : "there is no NVIDIA driver, or no GPU of compute "
                                          "capability 8.0 or newer"));
    }
    if (kernels->version != ASSAY_KERNELS_VERSION)
        return refused(
            fmt::format("{} has version {} of the kernel interface, this program {}; "
                        "build both from the same source",
                        path.string(), kernels->version, ASSAY_KERNELS_VERSION));
    if (!is_complete(*kernels))
        return refused(fmt::format("{} lacks functions that every back end has; build it anew",
                                   path.string()));
    return {kernels, {}};
}

const Plugin& cuda_plugin() {
    static const Plugin plugin = load_plugin(cuda_plugin_file());
    return plugin;
}

const AssayKernels& cuda_kernels() {
    const Plugin& plugin = cuda_plugin();
    if (!plugin.kernels) throw NotSupportedHere(plugin.why_not);
    return *plugin.kernels;
}

}  // namespace assay::kernels
