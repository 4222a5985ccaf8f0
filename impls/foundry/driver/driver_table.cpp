#include "impls/foundry/driver/driver_table.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "suite/base/error.hpp"

#define ASSAY_SYMBOL_TEXT(name) #name
#define ASSAY_SYMBOL(name) ASSAY_SYMBOL_TEXT(name)  // after cuda.h's macros: "cuMemAlloc_v2"

namespace assay::foundry {
namespace {

/// Of the file that was really opened: "libcuda.so.1" is searched for.
std::filesystem::path file_of(void* symbol, const std::filesystem::path& asked) {
    Dl_info info{};
    return dladdr(symbol, &info) != 0 && info.dli_fname ? info.dli_fname : asked;
}

}  // namespace

std::shared_ptr<const Driver> open_driver(const std::filesystem::path& library) {
    auto driver = std::make_shared<Driver>();
    driver->handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!driver->handle) {
        const char* const error = dlerror();
        throw NotSupportedHere(
            fmt::format("CUDA's driver cannot be opened: {}; install NVIDIA's driver, or "
                        "use the emulated back end",
                        error ? error : library.string()));
    }
    std::vector<std::string_view> missing;
    int wanted = 0;
    const auto take = [&](auto& member, const char* symbol) {
        ++wanted;
        void* const found = dlsym(driver->handle, symbol);
        if (!found) return missing.push_back(symbol);
        member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(found);
        if (driver->file.empty()) driver->file = file_of(found, library);
    };
#define ASSAY_TAKE(name) take(driver->name, ASSAY_SYMBOL(name));
    ASSAY_DRIVER_CALLS(ASSAY_TAKE)
#undef ASSAY_TAKE
    if (!missing.empty())
        throw NotSupportedHere(
            fmt::format("{} lacks {} of {} entry points of CUDA's driver, the first of them {}; "
                        "a driver of CUDA {}.{} or newer is needed",
                        (driver->file.empty() ? library : driver->file).string(), missing.size(),
                        wanted, missing.front(), CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10));
    return driver;
}

DriverError::DriverError(CUresult result, std::string name_of_result, std::string_view explanation,
                         std::string_view called)
    : std::runtime_error(fmt::format("{}: {} ({})", called, name_of_result, explanation)),
      code(result),
      name(std::move(name_of_result)),
      call(called) {}

void check(const Driver& driver, CUresult result, std::string_view call) {
    if (result == CUDA_SUCCESS) return;
    const char *name = nullptr, *explanation = nullptr;
    // A result that the driver itself does not know is given as its number.
    if (driver.cuGetErrorName(result, &name) != CUDA_SUCCESS) name = nullptr;
    if (driver.cuGetErrorString(result, &explanation) != CUDA_SUCCESS) explanation = nullptr;
    throw DriverError(result, name ? name : fmt::format("CUDA error {}", int{result}),
                      explanation ? explanation : "unknown to the driver", call);
}

}  // namespace assay::foundry
