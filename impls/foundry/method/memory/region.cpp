#include "impls/foundry/method/memory/region.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <optional>

#include "impls/foundry/method/memory/size_text.hpp"

namespace assay::foundry {
namespace {

/// nullopt: of more than 64 bits. `unit` is a power of two.
std::optional<std::uint64_t> round_up(std::uint64_t value, std::uint64_t unit) {
    const std::uint64_t low = unit - 1;
    if (value > std::numeric_limits<std::uint64_t>::max() - low) return std::nullopt;
    return (value + low) & ~low;
}

}  // namespace

bool RegionSettings::valid() const {
    return size > 0 && base <= std::numeric_limits<std::uint64_t>::max() - size && scratch <= size;
}

std::uint64_t rounded_bytes(std::uint64_t bytes) { return round_up(bytes, granule).value(); }

Region::Region(const RegionSettings& settings)
    : settings_(settings), position_{settings.base, settings.range().hi} {
    if (!settings.valid()) throw std::logic_error("a region that is empty or wraps around");
}

std::uint64_t Region::carve(std::uint64_t bytes, std::uint64_t alignment) {
    const std::uint64_t end = settings_.range().hi;
    const auto address = round_up(position_.cursor, alignment);
    if (address && *address <= end && bytes <= end - *address) {
        // Whole granules: what begins between two, as an alignment below one allows, ends at one.
        const auto next = round_up(*address + bytes, granule);
        if (next && *next <= end) {
            position_.cursor = *next;
            return *address;
        }
    }
    throw RegionFull(fmt::format(
        "{} aligned to {} do not fit: the region of {} at {} has {} left; give it more (--size)",
        binary_bytes_text(bytes), binary_bytes_text(alignment), binary_bytes_text(settings_.size),
        address_text(settings_.base), binary_bytes_text(end - position_.cursor)));
}

std::uint64_t Region::allocate(std::uint64_t bytes) {
    // A size that cannot be rounded up does not fit either.
    return carve(round_up(bytes, granule).value_or(bytes), granule);
}

std::uint64_t Region::reserve(std::uint64_t bytes, std::uint64_t alignment) {
    if (!std::has_single_bit(alignment)) throw std::logic_error("an alignment is a power of two");
    if (bytes < large_reserve) return carve(bytes, alignment);
    const auto address = round_up(position_.hint, alignment);
    const auto rounded = round_up(bytes, granule);
    if (!address || !rounded || *rounded > std::numeric_limits<std::uint64_t>::max() - *address)
        throw RegionFull(fmt::format(
            "{} aligned to {} do not fit: 64-bit addresses end before them; reserve less",
            binary_bytes_text(bytes), binary_bytes_text(alignment)));
    position_.hint = *address + bytes;
    return *address;
}

void Region::pass_boundary() {
    const std::uint64_t boundary = settings_.base + settings_.scratch;
    if (position_.cursor > boundary)
        throw ScratchExceeded(fmt::format(
            "what was allocated before the boundary takes {}, the scratch is {}; give more "
            "(--scratch), in SAVE and LOAD alike",
            binary_bytes_text(position_.cursor - settings_.base),
            binary_bytes_text(settings_.scratch)));
    position_.cursor = boundary;
}

void Region::move_to(const Position& position) {
    if (position.cursor < position_.cursor || position.cursor > settings_.range().hi)
        throw std::logic_error("the cursor never moves back, nor out of the region");
    position_ = position;
}

}  // namespace assay::foundry
