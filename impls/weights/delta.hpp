// The delta of one version of weights to the next (AstraFlow, weight transfer): the elements that
// changed and their new values, so that applying it is exact to the bit, and twice is as good as
// once.
//
// A file, little-endian: u64 changed, u16 element size (2), u16 flags (bit 0: offsets of 64 bits),
// i32 reserved (0); the changed elements' offsets in the version (u32 or u64), ascending; their
// values, 2 bytes each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "impls/nn/files/untrusted_file.hpp"

namespace assay::weights {

enum class OffsetType { u32, u64 };

/// What a delta of a version of that many elements is written with; either is read.
OffsetType offset_type(std::uint64_t elements);

inline constexpr std::uint64_t delta_header_bytes = 16;
/// 16 + changed · (4 or 8, and 2).
std::uint64_t delta_bytes(std::uint64_t changed, OffsetType offsets);
/// Share of changed elements at which a delta has the bytes of the version itself, header apart:
/// 1/3, and 1/5 with offsets of 64 bits.
double break_even_density(OffsetType offsets);

/// How a receiver comes by a version.
enum class TransferMode { full, delta };
/// `local`: the version that the receiver has, 0: none. `base`: the one that the delta is to be
/// applied to, 0: no delta is offered. `density`: the share of changed elements. Full where these
/// are not the same version, and beyond the break-even density.
TransferMode mode_for(std::uint64_t local, std::uint64_t base, double density,
                      OffsetType offsets = OffsetType::u32);

// Bytes of two versions: equally many, whole elements, at any address. What differs is told by the
// bits: −0 is not 0, and one NaN not another.

/// Elements compared, read or written at a time.
inline constexpr std::size_t piece_elements = std::size_t{1} << 18;

/// How many elements differ.
std::uint64_t count_changes(std::span<const std::byte> before, std::span<const std::byte> after);

/// Writes a delta from versions that come piece by piece, in memory that does not grow with them.
class DeltaWriter {
  public:
    /// Puts bytes at this offset of the file. They come in any order, each byte once.
    using WriteAt = std::function<void(std::uint64_t offset, std::span<const std::byte>)>;
    /// `changed`: count_changes() of all pieces.
    DeltaWriter(std::uint64_t changed, OffsetType offsets, WriteAt write);

    /// The next elements of both. Throws UserError when more differ than were counted: they are
    /// being written to. For offsets of 32 bits, std::out_of_range beyond 2^32 elements.
    void add(std::span<const std::byte> before, std::span<const std::byte> after);
    /// Throws UserError when fewer differ than were counted.
    void finish();

  private:
    template <class Offset>
    void collect(std::span<const std::byte> before, std::span<const std::byte> after);
    void flush();

    std::uint64_t changed_;
    OffsetType type_;
    WriteAt write_;
    std::uint64_t first_ = 0, written_ = 0;         ///< element that comes next; changes so far
    std::vector<std::byte> offsets_, values_;       ///< as they go into the file,
    std::size_t offset_bytes_ = 0, collected_ = 0;  ///< so many of them
};

/// In memory. Throws like DeltaWriter.
std::vector<std::byte> make_delta(std::span<const std::byte> before,
                                  std::span<const std::byte> after);

/// Reads a delta piece by piece and trusts nothing of it.
class DeltaReader {
  public:
    /// `elements`: of the version that it is for. `file` outlives this. Throws UserError: another
    /// header, a flag or a size of elements that is unknown, not the bytes that its header says.
    DeltaReader(const nn::UntrustedFile& file, std::uint64_t elements);

    std::uint64_t changed() const { return changed_; }
    OffsetType offsets() const { return type_; }

    /// Replaces what changed in the next elements of the version, which are in `piece`. Throws
    /// UserError for offsets that do not ascend or are beyond the last element; then the piece may
    /// be half replaced.
    void replace(std::span<std::byte> piece);
    /// Reads what is left of it. Throws UserError like replace().
    void check_rest();

  private:
    void load();
    std::uint64_t offset_at(std::size_t i) const;

    const nn::UntrustedFile& file_;
    std::uint64_t elements_, changed_ = 0;
    OffsetType type_ = OffsetType::u32;
    std::uint64_t first_ = 0, read_ = 0;  ///< element that comes next; changes read
    std::uint64_t least_ = 0;             ///< what the next offset may be
    std::vector<std::byte> offsets_, values_;
    std::size_t at_ = 0, loaded_ = 0;  ///< of those in memory: the next one, their number
};

/// All of a delta for a version of that many elements. Throws UserError like DeltaReader.
void check_delta(const nn::UntrustedFile& delta, std::uint64_t elements);

/// Turns the bytes of the delta's base into those of the version. Throws UserError like
/// DeltaReader; then nothing was changed, unless the file changes while it is read.
void apply_delta(const nn::UntrustedFile& delta, std::span<std::byte> version);

}  // namespace assay::weights
