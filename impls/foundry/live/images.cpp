#include "impls/foundry/live/images.hpp"

#include "suite/base/sha256.hpp"

namespace assay::foundry {

Images::~Images() {
    for (const auto& [hash, loaded] : loaded_) driver_.cuLibraryUnload(loaded.library);
}

std::string Images::load(std::span<const std::byte> image) {
    const std::string hash =
        sha256_hex({reinterpret_cast<const char*>(image.data()), image.size()});
    const auto [at, is_new] = loaded_.try_emplace(hash);
    if (!is_new) return hash;
    CUlibraryOption option = CU_LIBRARY_BINARY_IS_PRESERVED;
    const CUresult result = driver_.cuLibraryLoadData(&at->second.library, image.data(), nullptr,
                                                      nullptr, 0, &option, nullptr, 1);
    if (result != CUDA_SUCCESS) loaded_.erase(at);
    check(driver_, result, "cuLibraryLoadData");
    try {
        enumerate(hash, at->second);
    } catch (...) {  // to be loaded anew by whoever asks again
        std::erase_if(identities_, [&](const auto& one) { return one.second.image == hash; });
        driver_.cuLibraryUnload(at->second.library);
        loaded_.erase(at);
        throw;
    }
    return hash;
}

void Images::enumerate(const std::string& hash, Loaded& loaded) {
    unsigned count = 0;
    check(driver_, driver_.cuLibraryGetKernelCount(&count, loaded.library),
          "cuLibraryGetKernelCount");
    std::vector<CUkernel> kernels(count);
    check(driver_, driver_.cuLibraryEnumerateKernels(kernels.data(), count, loaded.library),
          "cuLibraryEnumerateKernels");
    for (const CUkernel kernel : kernels) {
        const char* name = nullptr;
        check(driver_, driver_.cuKernelGetName(&name, kernel), "cuKernelGetName");
        Resolved resolved{.kernel = kernel, .function = nullptr, .params = {}};
        check(driver_, driver_.cuKernelGetFunction(&resolved.function, kernel),
              "cuKernelGetFunction");
        std::size_t offset = 0, bytes = 0;
        for (;;) {
            const CUresult result =
                driver_.cuKernelGetParamInfo(kernel, resolved.params.size(), &offset, &bytes);
            if (result == CUDA_ERROR_INVALID_VALUE) break;  // it has no more
            check(driver_, result, "cuKernelGetParamInfo");
            resolved.params.push_back({.offset = static_cast<std::uint32_t>(offset),
                                       .bytes = static_cast<std::uint32_t>(bytes)});
        }
        identities_[kernel] = identities_[resolved.function] = {hash, name};
        loaded.kernels.emplace(name, std::move(resolved));
    }
}

const Images::Resolved* Images::find(const std::string& image, const std::string& name) const {
    const auto of = loaded_.find(image);
    if (of == loaded_.end()) return nullptr;
    const auto found = of->second.kernels.find(name);
    return found == of->second.kernels.end() ? nullptr : &found->second;
}

std::optional<Images::Identity> Images::identify(const void* handle) const {
    const auto found = identities_.find(handle);
    if (found == identities_.end()) return std::nullopt;
    return found->second;
}

}  // namespace assay::foundry
