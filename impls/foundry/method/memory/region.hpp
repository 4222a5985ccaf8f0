// Where deterministic memory lies: the arithmetic of addresses in a region of reserved address
// space, and of reservations outside it. No memory is mapped here. The plan of a trace and the
// allocator of a live process both ask it, so that both give the same addresses.
//
//     Region region{{}};
//     const std::uint64_t handle = region.allocate(bytes);  // scratch: may differ between runs
//     region.pass_boundary();
//     const std::uint64_t weights = region.allocate(bytes);  // the same in every run
#pragma once

#include <cstdint>
#include <stdexcept>

namespace assay::foundry {

/// What the driver maps at least; allocations are whole multiples.
inline constexpr std::uint64_t granule = std::uint64_t{2} << 20;
/// Reservations of so many bytes lie outside the region.
inline constexpr std::uint64_t large_reserve = std::uint64_t{2} << 30;

/// Addresses, `hi` excluded.
struct Range {
    std::uint64_t lo = 0, hi = 0;

    bool holds(std::uint64_t address) const { return lo <= address && address < hi; }
    bool operator==(const Range&) const = default;
};

struct RegionSettings {
    std::uint64_t base = 0x600000000000;
    std::uint64_t size = std::uint64_t{256} << 30;   ///< bytes of address space
    std::uint64_t scratch = std::uint64_t{1} << 30;  ///< of it, for what start-up allocates

    /// base + size must not pass 64 bits.
    Range range() const { return {base, base + size}; }
    /// Not empty, with 64-bit ends, scratch within.
    bool valid() const;
};

/// An address that cannot be given. The caller adds the place.
struct RegionRefusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct RegionFull : RegionRefusal {
    using RegionRefusal::RegionRefusal;
};
struct ScratchExceeded : RegionRefusal {
    using RegionRefusal::RegionRefusal;
};

/// A value; specification 3.2. What throws leaves it as it was.
class Region {
  public:
    struct Position {
        std::uint64_t cursor = 0;  ///< the next free address of the region; it never moves back
        std::uint64_t hint = 0;    ///< where the next large reservation is asked for
        bool operator==(const Position&) const = default;
    };

    /// std::logic_error for settings that are not valid().
    explicit Region(const RegionSettings& settings);

    /// The address of `bytes` > 0, rounded up to the granule. RegionFull.
    std::uint64_t allocate(std::uint64_t bytes);

    /// The address of a reservation, aligned to a power of two: in the region, up to the end of its
    /// last granule; from `large_reserve` on outside of it, at the hint. RegionFull.
    std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment);

    /// Start-up is over: the cursor moves to base + scratch. ScratchExceeded.
    void pass_boundary();

    /// Onwards to a position of a saved run (specification 3.3, replay_events), or to the hint that
    /// a driver's own answer leads to. std::logic_error: back, or out of the region.
    void move_to(const Position& position);

    const Position& position() const { return position_; }
    std::uint64_t cursor() const { return position_.cursor; }
    std::uint64_t hint() const { return position_.hint; }
    const RegionSettings& settings() const { return settings_; }

  private:
    std::uint64_t carve(std::uint64_t bytes, std::uint64_t alignment);

    RegionSettings settings_;
    Position position_;
};

/// What `bytes` take: whole granules. Only of what the region gave an address.
std::uint64_t rounded_bytes(std::uint64_t bytes);

}  // namespace assay::foundry
