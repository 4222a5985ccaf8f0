#include "impls/foundry/live/region_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace assay::foundry {

RegionMemory::RegionMemory(const Device& device, const RegionSettings& settings, Base base)
    : device_(device),
      driver_(device.driver()),
      region_(reserved(device.driver(), settings, base)) {}

RegionSettings RegionMemory::reserved(const Driver& driver, RegionSettings settings, Base base) {
    CUdeviceptr got = 0;
    check(driver, driver.cuMemAddressReserve(&got, settings.size, granule, settings.base, 0),
          "cuMemAddressReserve");
    if (got != settings.base && base == Base::exactly) {
        driver.cuMemAddressFree(got, settings.size);
        throw BaseTaken(
            fmt::format("the region's address {:#x} is taken in this process (the "
                        "driver offers {:#x}); another process may get it",
                        settings.base, got));
    }
    settings.base = got;
    return settings;
}

RegionMemory::~RegionMemory() {
    for (const auto& [id, allocation] : allocations_)
        if (allocation.handle != 0) unmap(allocation.range, allocation.handle);
    for (const Allocation& ahead : ahead_) unmap(ahead.range, ahead.handle);
    driver_.cuMemAddressFree(region_.settings().base, region_.settings().size);
}

CUmemGenericAllocationHandle RegionMemory::map(const Range& range) {
    CUmemAllocationProp kind{};
    kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    kind.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device_.handle()};
    const std::uint64_t bytes = range.hi - range.lo;
    CUmemGenericAllocationHandle handle = 0;
    check(driver_, driver_.cuMemCreate(&handle, bytes, &kind, 0), "cuMemCreate");
    CUresult result = driver_.cuMemMap(range.lo, bytes, 0, handle, 0);
    if (result != CUDA_SUCCESS) {
        driver_.cuMemRelease(handle);
        check(driver_, result, "cuMemMap");
    }
    const CUmemAccessDesc access{.location = kind.location,
                                 .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    result = driver_.cuMemSetAccess(range.lo, bytes, &access, 1);
    if (result != CUDA_SUCCESS) {
        unmap(range, handle);
        check(driver_, result, "cuMemSetAccess");
    }
    return handle;
}

void RegionMemory::unmap(const Range& range, CUmemGenericAllocationHandle handle) {
    driver_.cuMemUnmap(range.lo, range.hi - range.lo);
    driver_.cuMemRelease(handle);
}

bool RegionMemory::is_mapped_ahead(const Range& range) const {
    return std::ranges::any_of(ahead_, [&](const Allocation& ahead) {
        return ahead.range.lo <= range.lo && range.hi <= ahead.range.hi;
    });
}

CUdeviceptr RegionMemory::allocate(const std::string& id, std::uint64_t bytes) {
    if (allocations_.contains(id)) throw std::logic_error("memory called " + id + " twice");
    const std::uint64_t at = region_.allocate(bytes);
    Allocation allocation{.range = {at, at + rounded_bytes(bytes)}, .handle = 0};
    if (!is_mapped_ahead(allocation.range)) allocation.handle = map(allocation.range);
    allocations_.emplace(id, allocation);
    trace_ += fmt::format("alloc {} {}\n", id, bytes);
    return at;
}

void RegionMemory::pass_boundary() {
    region_.pass_boundary();
    trace_ += "boundary\n";
}

void RegionMemory::begin(const std::string& window) { trace_ += fmt::format("begin {}\n", window); }
void RegionMemory::end() { trace_ += "end\n"; }

void RegionMemory::map_ahead(const std::vector<Range>& ranges) {
    for (const Range& range : ranges) ahead_.push_back({range, map(range)});
}

}  // namespace assay::foundry
