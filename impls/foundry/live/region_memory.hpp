// Device memory at addresses that are the same in every process that allocates the same: a region
// of reserved address space, filled from its beginning and never given back (specification 3.2).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "impls/foundry/live/device.hpp"
#include "impls/foundry/method/memory/region.hpp"

namespace assay::foundry {

/// An address range is not to be had in this process.
struct BaseTaken : RegionRefusal {
    using RegionRefusal::RegionRefusal;
};

/// Reserves these addresses. Throws BaseTaken where the driver reserves others.
void reserve_exactly(const Driver& driver, std::uint64_t base, std::uint64_t bytes);
/// Device memory without an address, in whole granules, that other processes can be given.
CUmemGenericAllocationHandle create_memory(const Device& device, std::uint64_t bytes);
/// Gives it an address, for reading and writing. Where that fails the handle is released.
void map_memory(const Device& device, const Range& range, CUmemGenericAllocationHandle handle);
void unmap_memory(const Driver& driver, const Range& range, CUmemGenericAllocationHandle handle);

class RegionMemory {
  public:
    /// Where a region may begin: graphs that are restored have theirs already.
    enum class Base { exactly, anywhere };
    /// Reserves the region. Throws BaseTaken where the driver reserves another address than it
    /// must.
    RegionMemory(const Device& device, const RegionSettings& settings, Base base = Base::exactly);
    ~RegionMemory();  ///< unmaps and releases all of it
    RegionMemory(const RegionMemory&) = delete;
    RegionMemory& operator=(const RegionMemory&) = delete;

    /// Memory for reading and writing, in whole granules. `id` names it in the trace. Throws
    /// RegionFull, DriverError.
    CUdeviceptr allocate(const std::string& id, std::uint64_t bytes);
    void pass_boundary();

    /// A window of the trace, around one graph's capture.
    void begin(const std::string& window);
    void end();

    /// Maps these ranges at once, so that allocations within them only take an address.
    void map_ahead(const std::vector<Range>& ranges);
    /// Onwards to where a saved window ended: what it left mapped was mapped ahead.
    void move_to(const Region::Position& position) { region_.move_to(position); }

    const Region& region() const { return region_; }
    /// What happened, as `assay plan foundry --memory` reads it.
    const std::string& trace() const { return trace_; }

  private:
    static RegionSettings reserved(const Driver& driver, RegionSettings settings, Base base);
    CUmemGenericAllocationHandle map(const Range& range);
    bool is_mapped_ahead(const Range& range) const;

    const Device& device_;
    const Driver& driver_;
    Region region_;
    struct Allocation {
        Range range;
        CUmemGenericAllocationHandle handle = 0;  ///< 0: of what was mapped ahead
    };
    std::map<std::string, Allocation> allocations_;
    std::vector<Allocation> ahead_;
    std::string trace_;
};

}  // namespace assay::foundry
