#include "impls/weights/delta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "impls/weights/layout.hpp"
#include "suite/base/error.hpp"

namespace assay::weights {
namespace {

constexpr std::uint16_t wide_flag = 1;

std::size_t offset_size(OffsetType type) {
    return type == OffsetType::u32 ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
}

template <class Number>
void put(std::span<std::byte> out, std::size_t at, Number number) {
    std::memcpy(out.data() + at, &number, sizeof number);
}

std::uint16_t element_at(const std::byte* bytes, std::size_t i) {
    return nn::little_endian<std::uint16_t>(bytes + i * element_bytes);
}

void check_comparable(std::span<const std::byte> before, std::span<const std::byte> after) {
    if (before.size() != after.size() || before.size() % element_bytes != 0)
        throw std::invalid_argument("versions that are compared have equally many, whole elements");
}

// Blocks of 64-bit words are compared at a time; loops over one have a fixed length, so that they
// become vector code.
constexpr std::size_t block_words = 8, of_word = sizeof(std::uint64_t) / element_bytes;
constexpr std::size_t block_elements = block_words * of_word;
constexpr unsigned element_bits = 8 * element_bytes;
constexpr std::uint64_t each_element = 0x0001'0001'0001'0001;
using Block = std::array<std::uint64_t, block_words>;

Block block_at(const std::byte* bytes, std::size_t element) {
    Block block;
    std::memcpy(block.data(), bytes + element * element_bytes, sizeof block);
    return block;
}

/// Bit 0 of each of the word's elements that is not 0.
std::uint64_t elements_set(std::uint64_t word) {
    constexpr std::uint64_t low = 0x7fff * each_element;
    return ((((word & low) + low) | word) >> (element_bits - 1)) & each_element;
}

/// Calls each(i, new value) for the elements that differ. Where few do, most blocks are passed over
/// as a whole.
template <class Each>
void each_change(const std::byte* before, const std::byte* after, std::size_t elements,
                 Each&& each) {
    std::size_t i = 0;
    for (; elements - i >= block_elements; i += block_elements) {
        const Block a = block_at(before, i), b = block_at(after, i);
        std::uint64_t any = 0;
        for (std::size_t w = 0; w < block_words; ++w) any |= a[w] ^ b[w];
        if (any == 0) continue;
        // A bit for each element of the block: branches on single elements would often be foreseen
        // wrongly. The product moves a word's bits 0, 16, 32 and 48 to 48 … 51.
        std::uint32_t changed = 0;
        for (std::size_t w = 0; w < block_words; ++w)
            changed |= static_cast<std::uint32_t>(
                           (elements_set(a[w] ^ b[w]) * 0x0001'0002'0004'0008) >> 48 & 0xf)
                       << (of_word * w);
        for (; changed != 0; changed &= changed - 1) {
            const std::size_t at = i + static_cast<std::size_t>(std::countr_zero(changed));
            each(at, element_at(after, at));
        }
    }
    for (; i < elements; ++i)
        if (element_at(before, i) != element_at(after, i)) each(i, element_at(after, i));
}

[[noreturn]] void refuse_moving_versions() {
    throw UserError(
        "the weights changed while they were compared; compare them when nothing writes to them");
}

}  // namespace

OffsetType offset_type(std::uint64_t elements) {
    return elements > std::numeric_limits<std::uint32_t>::max() ? OffsetType::u64 : OffsetType::u32;
}

std::uint64_t delta_bytes(std::uint64_t changed, OffsetType offsets) {
    return delta_header_bytes + changed * (offset_size(offsets) + element_bytes);
}

double break_even_density(OffsetType offsets) {
    return static_cast<double>(element_bytes) /
           static_cast<double>(offset_size(offsets) + element_bytes);
}

TransferMode mode_for(std::uint64_t local, std::uint64_t base, double density, OffsetType offsets) {
    const bool small = density <= break_even_density(offsets);  // no NaN is
    return local != 0 && local == base && small ? TransferMode::delta : TransferMode::full;
}

std::uint64_t count_changes(std::span<const std::byte> before, std::span<const std::byte> after) {
    check_comparable(before, after);
    const std::size_t elements = before.size() / element_bytes;
    std::uint64_t changed = 0;
    std::size_t i = 0;
    while (elements - i >= block_elements) {
        // Each word's four counters have 16 bits.
        const std::size_t blocks =
            std::min<std::size_t>((elements - i) / block_elements, std::size_t{0xffff});
        Block counters{};
        for (const std::size_t end = i + blocks * block_elements; i < end; i += block_elements) {
            const Block a = block_at(before.data(), i), b = block_at(after.data(), i);
            for (std::size_t w = 0; w < block_words; ++w) counters[w] += elements_set(a[w] ^ b[w]);
        }
        for (const std::uint64_t counter : counters)
            for (unsigned e = 0; e < of_word; ++e)
                changed += static_cast<std::uint16_t>(counter >> (e * element_bits));
    }
    for (; i < elements; ++i)
        changed += element_at(before.data(), i) != element_at(after.data(), i) ? 1 : 0;
    return changed;
}

DeltaWriter::DeltaWriter(std::uint64_t changed, OffsetType offsets, WriteAt write)
    : changed_(changed), type_(offsets), write_(std::move(write)) {
    offset_bytes_ = offset_size(type_);
    const std::size_t most =  // what is left of less than a piece, and another piece
        static_cast<std::size_t>(std::min<std::uint64_t>(changed, piece_elements)) + piece_elements;
    offsets_.resize(most * offset_bytes_);
    values_.resize(most * element_bytes);
    std::array<std::byte, delta_header_bytes> header{};
    put(header, 0, changed_);
    put(header, 8, static_cast<std::uint16_t>(element_bytes));
    put(header, 10, type_ == OffsetType::u64 ? wide_flag : std::uint16_t{0});
    write_(0, header);
}

template <class Offset>
void DeltaWriter::collect(std::span<const std::byte> before, std::span<const std::byte> after) {
    const std::size_t elements = before.size() / element_bytes;
    if (first_ + elements - 1 > std::numeric_limits<Offset>::max())
        throw std::out_of_range("more elements than offsets of 32 bits can name");
    std::byte* offset = offsets_.data() + collected_ * sizeof(Offset);
    std::byte* value = values_.data() + collected_ * element_bytes;
    each_change(before.data(), after.data(), elements, [&](std::size_t i, std::uint16_t changed) {
        const auto at = static_cast<Offset>(first_ + i);
        std::memcpy(offset, &at, sizeof at);
        std::memcpy(value, &changed, sizeof changed);
        offset += sizeof at;
        value += sizeof changed;
    });
    collected_ = static_cast<std::size_t>(value - values_.data()) / element_bytes;
    first_ += elements;
}

void DeltaWriter::add(std::span<const std::byte> before, std::span<const std::byte> after) {
    check_comparable(before, after);
    while (!before.empty()) {
        const std::size_t bytes = std::min(before.size(), piece_elements * element_bytes);
        if (type_ == OffsetType::u32)
            collect<std::uint32_t>(before.first(bytes), after.first(bytes));
        else
            collect<std::uint64_t>(before.first(bytes), after.first(bytes));
        before = before.subspan(bytes);
        after = after.subspan(bytes);
        if (collected_ > changed_ - written_) refuse_moving_versions();
        if (collected_ >= piece_elements) flush();
    }
}

void DeltaWriter::flush() {
    if (collected_ == 0) return;
    const std::uint64_t values = delta_header_bytes + changed_ * offset_bytes_;
    write_(delta_header_bytes + written_ * offset_bytes_,
           std::span(offsets_).first(collected_ * offset_bytes_));
    write_(values + written_ * element_bytes, std::span(values_).first(collected_ * element_bytes));
    written_ += collected_;
    collected_ = 0;
}

void DeltaWriter::finish() {
    flush();
    if (written_ != changed_) refuse_moving_versions();
}

std::vector<std::byte> make_delta(std::span<const std::byte> before,
                                  std::span<const std::byte> after) {
    const std::uint64_t changed = count_changes(before, after);
    const OffsetType offsets = offset_type(before.size() / element_bytes);
    std::vector<std::byte> delta(delta_bytes(changed, offsets));
    DeltaWriter writer(changed, offsets, [&](std::uint64_t at, std::span<const std::byte> bytes) {
        std::memcpy(delta.data() + at, bytes.data(), bytes.size());
    });
    writer.add(before, after);
    writer.finish();
    return delta;
}

DeltaReader::DeltaReader(const nn::UntrustedFile& file, std::uint64_t elements)
    : file_(file), elements_(elements) {
    const auto refuse = [&](const std::string& what) { nn::malformed(file_.name(), what); };
    std::array<std::byte, delta_header_bytes> header;
    if (file_.size() < header.size())
        refuse(fmt::format("has {} bytes; the header of a delta has {}: it is cut off or no delta",
                           file_.size(), header.size()));
    file_.read(0, header);
    changed_ = nn::little_endian<std::uint64_t>(header.data());
    const auto element_size = nn::little_endian<std::uint16_t>(header.data() + 8);
    const auto flags = nn::little_endian<std::uint16_t>(header.data() + 10);
    const auto reserved = nn::little_endian<std::int32_t>(header.data() + 12);
    if (element_size != element_bytes)
        refuse(
            fmt::format("its elements have {} bytes; give a delta of bf16 weights, of {} bytes "
                        "each, as `assay weights diff` makes it",
                        element_size, element_bytes));
    if ((flags & ~wide_flag) != 0)
        refuse(
            fmt::format("its flags are 0x{:x}, of which only bit 0 is known; make it again with "
                        "`assay weights diff`",
                        flags));
    if (reserved != 0)
        refuse(
            fmt::format("its reserved number is {} where 0 is written; it is damaged or of "
                        "another format: make it again with `assay weights diff`",
                        reserved));
    if (flags != 0) type_ = OffsetType::u64;
    if (changed_ > elements_)
        refuse(
            fmt::format("{} changed elements for weights of {}; it is damaged, or of another "
                        "model",
                        changed_, elements_));
    const std::uint64_t size = file_.size() - delta_header_bytes;
    const std::uint64_t of_each = offset_size(type_) + element_bytes;
    if (size % of_each != 0 || size / of_each != changed_)
        refuse(
            fmt::format("has {} bytes; with {} changed elements it has {} · {} + {}: it is cut "
                        "off or damaged; make or copy it again",
                        file_.size(), changed_, changed_, of_each, delta_header_bytes));
}

std::uint64_t DeltaReader::offset_at(std::size_t i) const {
    const std::byte* const at = offsets_.data() + i * offset_size(type_);
    return type_ == OffsetType::u32 ? nn::little_endian<std::uint32_t>(at)
                                    : nn::little_endian<std::uint64_t>(at);
}

void DeltaReader::load() {
    const std::uint64_t width = offset_size(type_);
    at_ = 0;
    loaded_ = static_cast<std::size_t>(std::min<std::uint64_t>(changed_ - read_, piece_elements));
    offsets_.resize(loaded_ * width);
    values_.resize(loaded_ * element_bytes);
    file_.read(delta_header_bytes + read_ * width, offsets_);
    file_.read(delta_header_bytes + changed_ * width + read_ * element_bytes, values_);
    for (std::size_t i = 0; i < loaded_; ++i) {
        const std::uint64_t offset = offset_at(i);
        if (offset >= elements_)
            nn::malformed(
                file_.name(),
                fmt::format("element {} changed, the weights have {}; it is damaged, or of "
                            "another model",
                            offset, elements_));
        if (offset < least_)
            nn::malformed(
                file_.name(),
                fmt::format("offset {} comes behind {}; offsets ascend in a delta: make it "
                            "again with `assay weights diff`",
                            offset, least_ - 1));
        least_ = offset + 1;
    }
    read_ += loaded_;
}

void DeltaReader::replace(std::span<std::byte> piece) {
    const std::uint64_t end = first_ + piece.size() / element_bytes;
    if (piece.size() % element_bytes != 0 || end > elements_)
        throw std::out_of_range("not elements of the version that the delta is for");
    for (;;) {
        for (; at_ < loaded_; ++at_) {
            const std::uint64_t offset = offset_at(at_);
            if (offset >= end) break;
            std::memcpy(piece.data() + (offset - first_) * element_bytes,
                        values_.data() + at_ * element_bytes, element_bytes);
        }
        if (at_ < loaded_ || read_ == changed_) break;
        load();
    }
    first_ = end;
}

void DeltaReader::check_rest() {
    while (read_ < changed_) load();
}

void check_delta(const nn::UntrustedFile& delta, std::uint64_t elements) {
    DeltaReader(delta, elements).check_rest();
}

void apply_delta(const nn::UntrustedFile& delta, std::span<std::byte> version) {
    if (version.size() % element_bytes != 0)
        throw std::invalid_argument("a version has whole elements");
    const std::uint64_t elements = version.size() / element_bytes;
    check_delta(delta, elements);
    DeltaReader(delta, elements).replace(version);
}

}  // namespace assay::weights
