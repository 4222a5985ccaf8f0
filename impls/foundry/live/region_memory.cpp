#include "impls/foundry/live/region_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace assay::foundry {
namespace {

CUmemLocation location_of(const Device& device) {
    return {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device.handle()};
}

/// At the hint, or elsewhere.
std::uint64_t reserve(const Driver& driver, std::uint64_t hint, std::uint64_t bytes) {
    CUdeviceptr got = 0;
    check(driver, driver.cuMemAddressReserve(&got, bytes, granule, hint, 0), "cuMemAddressReserve");
    return got;
}

}  // namespace

void reserve_exactly(const Driver& driver, std::uint64_t base, std::uint64_t bytes) {
    const std::uint64_t got = reserve(driver, base, bytes);
    if (got == base) return;
    driver.cuMemAddressFree(got, bytes);
    throw BaseTaken(
        fmt::format("the address {:#x} is taken in this process (the driver offers {:#x}); another "
                    "process may get it",
                    base, got));
}

CUmemGenericAllocationHandle create_memory(const Device& device, std::uint64_t bytes) {
    CUmemAllocationProp kind{};
    kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    kind.location = location_of(device);
    CUmemGenericAllocationHandle handle = 0;
    check(device.driver(), device.driver().cuMemCreate(&handle, bytes, &kind, 0), "cuMemCreate");
    return handle;
}

void map_memory(const Device& device, const Range& range, CUmemGenericAllocationHandle handle) {
    const Driver& driver = device.driver();
    const std::uint64_t bytes = range.hi - range.lo;
    CUresult result = driver.cuMemMap(range.lo, bytes, 0, handle, 0);
    if (result != CUDA_SUCCESS) {
        driver.cuMemRelease(handle);
        check(driver, result, "cuMemMap");
    }
    const CUmemAccessDesc access{.location = location_of(device),
                                 .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    result = driver.cuMemSetAccess(range.lo, bytes, &access, 1);
    if (result != CUDA_SUCCESS) {
        unmap_memory(driver, range, handle);
        check(driver, result, "cuMemSetAccess");
    }
}

void unmap_memory(const Driver& driver, const Range& range, CUmemGenericAllocationHandle handle) {
    driver.cuMemUnmap(range.lo, range.hi - range.lo);
    driver.cuMemRelease(handle);
}

RegionMemory::RegionMemory(const Device& device, const RegionSettings& settings, Base base)
    : device_(device),
      driver_(device.driver()),
      region_(reserved(device.driver(), settings, base)) {}

RegionSettings RegionMemory::reserved(const Driver& driver, RegionSettings settings, Base base) {
    if (base == Base::exactly)
        reserve_exactly(driver, settings.base, settings.size);
    else
        settings.base = reserve(driver, settings.base, settings.size);
    return settings;
}

RegionMemory::~RegionMemory() {
    for (const auto& [id, allocation] : allocations_)
        if (allocation.handle != 0) unmap_memory(driver_, allocation.range, allocation.handle);
    for (const Allocation& ahead : ahead_) unmap_memory(driver_, ahead.range, ahead.handle);
    driver_.cuMemAddressFree(region_.settings().base, region_.settings().size);
}

CUmemGenericAllocationHandle RegionMemory::map(const Range& range) {
    const auto handle = create_memory(device_, range.hi - range.lo);
    map_memory(device_, range, handle);
    return handle;
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
