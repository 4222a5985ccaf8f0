#include "suite/cluster/nccl/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace assay::cluster::nccl {
namespace {

constexpr const char* name = "libnccl.so.2";
constexpr int oldest = 21400;  // calls that do not block: library.hpp

template <class Function>
bool take(void* handle, Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(dlsym(handle, symbol));
    return function != nullptr;
}

/// The first symbol that is missing; null: it is complete.
const char* fill(Library& library) {
    const char* missing = nullptr;
    const auto need = [&](auto& function, const char* symbol) {
        if (!take(library.handle, function, symbol) && !missing) missing = symbol;
    };
    need(library.get_unique_id, "ncclGetUniqueId");
    need(library.init_rank_config, "ncclCommInitRankConfig");
    need(library.finalize, "ncclCommFinalize");
    need(library.destroy, "ncclCommDestroy");
    need(library.abort, "ncclCommAbort");
    need(library.async_error, "ncclCommGetAsyncError");
    need(library.error_string, "ncclGetErrorString");
    need(library.group_start, "ncclGroupStart");
    need(library.group_end, "ncclGroupEnd");
    need(library.all_reduce, "ncclAllReduce");
    need(library.all_gather, "ncclAllGather");
    need(library.broadcast, "ncclBroadcast");
    need(library.send, "ncclSend");
    need(library.recv, "ncclRecv");
    need(library.last_error, "ncclGetLastError");
    take(library.handle, library.shrink, "ncclCommShrink");
    return missing;
}

/// Of the file that was really opened.
std::string file_of(void* symbol, const std::string& asked) {
    Dl_info info{};
    return dladdr(symbol, &info) != 0 && info.dli_fname ? info.dli_fname : asked;
}

Found from_handle(void* handle, const std::string& file) {
    auto library = std::make_shared<Library>();
    library->handle = handle;
    int (*get_version)(int*) = nullptr;
    if (!take(handle, get_version, "ncclGetVersion"))
        return {nullptr, fmt::format("{} is no NCCL: it has no ncclGetVersion", file)};
    library->file = file_of(reinterpret_cast<void*>(get_version), file);
    if (const int result = get_version(&library->version); result != success)
        return {nullptr, fmt::format("{}: ncclGetVersion fails with {}", file, result)};
    if (library->version < oldest)
        return {nullptr,
                fmt::format("{} is NCCL {}; {} or newer is needed, since an abort of an "
                            "older one frees what its other calls still use",
                            library->file, version_text(library->version), version_text(oldest))};
    if (const char* const missing = fill(*library))
        return {nullptr, fmt::format("{} (NCCL {}) has no {}", library->file,
                                     version_text(library->version), missing)};
    return {std::move(library), {}};
}

}  // namespace

Library::~Library() {
    if (handle) dlclose(handle);
}

std::string version_text(int version) {
    // Until 2.8 a version had four digits, since then five.
    const int major = version < 10000 ? version / 1000 : version / 10000;
    const int minor = version < 10000 ? version / 100 % 10 : version / 100 % 100;
    return fmt::format("{}.{}.{}", major, minor, version % 100);
}

Found open_library(const std::string& file) {
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char* const error = dlerror();
        return {nullptr, error ? error : file + " cannot be loaded"};
    }
    return from_handle(handle, file);
}

Found find_library() {
    if (const char* const named = std::getenv("ASSAY_NCCL"); named && *named) {
        Found found = open_library(named);
        if (!found.library) found.why_not += " (named by ASSAY_NCCL)";
        return found;
    }
    if (void* const loaded = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD))
        return from_handle(loaded, name);
#ifdef ASSAY_WHEELS
    if (const std::string wheel = ASSAY_WHEELS "/nccl/lib/libnccl.so.2";
        std::filesystem::exists(wheel))
        return open_library(wheel);
#endif
    Found found = open_library(name);
    if (!found.library)
        found.why_not += "; install NCCL (Debian: libnccl2), or name the file in ASSAY_NCCL";
    return found;
}

std::string describe(const Found& found) {
    if (!found.library) return found.why_not;
    const Library& library = *found.library;
    return fmt::format("NCCL {} ({}){}", version_text(library.version), library.file,
                       library.shrink ? "" : "; a smaller group is connected anew (shrink: 2.27)");
}

}  // namespace assay::cluster::nccl
