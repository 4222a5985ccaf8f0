#include "impls/tensors/module.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "impls/tensors/part.hpp"
#include "suite/base/error.hpp"
#include "suite/measure/build_info.hpp"

namespace assay::tensors {

/// Of the module that this program was linked after; written by the build (CMakeLists.txt). As part
/// of the program it also makes the program's own build id change with the module.
const char* module_build_id();

namespace {

namespace fs = std::filesystem;
constexpr const char* variable = "ASSAY_TENSORS";
constexpr const char* file_name = "libassay_tensors.so";

}  // namespace

Module program_module() {
    const std::string build = module_build_id();
    // Set by a program that started this one, which may be another build (`assay versus`).
    if (const char* const held = std::getenv(variable); held && measure::build_id_of(held) == build)
        return {held, build};
    std::error_code error;
    return {fs::read_symlink("/proc/self/exe", error).parent_path() / file_name, build};
}

bool module_is_built() { return true; }

void hold_module(const Module& module) {
    const int held = ::open(module.file.c_str(), O_RDONLY | O_CLOEXEC);
    if (held >= 0) ::setenv(variable, fmt::format("/proc/{}/fd/{}", ::getpid(), held).c_str(), 1);
}

std::optional<std::string> module_lacks(const Module& module) {
    std::error_code ignored;
    if (!fs::exists(module.file, ignored))
        return fmt::format(
            "{} is missing, which holds what needs libtorch; copy it along with the program, or "
            "build the target assay again",
            module.file.string());
    if (measure::build_id_of(module.file) != module.build)
        return fmt::format(
            "{} is of another build than this program; copy both from one build, or build the "
            "target assay again",
            module.file.string());
    return std::nullopt;
}

const void* find(const Module& module, const char* symbol) {
    if (const auto reason = module_lacks(module)) throw NotSupportedHere(*reason);
    // Lazily, as programs bind libraries that they are linked to: libtorch has very many functions.
    // Never closed: what it made must outlive every caller.
    void* const handle = ::dlopen(module.file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    const void* const found = handle ? ::dlsym(handle, symbol) : nullptr;
    if (found) return found;
    throw NotSupportedHere(
        fmt::format("{} cannot be loaded: {}; scripts/dependencies fetches libtorch",
                    module.file.string(), ::dlerror()));
}

AnyFunction part_of_module(const char* name) {
    static const auto part_named = reinterpret_cast<AnyFunction (*)(const char*)>(
        const_cast<void*>(find(program_module(), "assay_tensors_part")));
    if (const AnyFunction part = part_named(name)) return part;
    throw NotSupportedHere(fmt::format(
        "this build has no {}, for want of libraries; `assay doctor` says which", name));
}

}  // namespace assay::tensors
