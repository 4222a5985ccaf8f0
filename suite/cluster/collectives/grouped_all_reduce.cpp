#include "suite/cluster/collectives/grouped_all_reduce.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace assay::cluster {
namespace {

// The ordered sum: block by block, so that the accumulators stay in the first-level cache and `out`
// may alias a part: a block is written only after all parts of it were read.

constexpr std::size_t kBlock = 1024;

float float_of_bf16(std::uint16_t bits) {
    const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
}

std::uint16_t bf16_of_float(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if (value != value)
        return static_cast<std::uint16_t>((bits >> 16) | 0x40);  // stays a quiet NaN
    return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// `Wide` is what sums are kept in; load and store convert between it and the stored element.
template <class Element, class Wide, class Load, class Store>
void sum_blocks(std::span<const void* const> parts, std::size_t count, void* out, Load load,
                Store store) {
    std::array<Wide, kBlock> sums;
    for (std::size_t begin = 0; begin < count; begin += kBlock) {
        const std::size_t n = std::min(kBlock, count - begin);
        const auto* first = static_cast<const Element*>(parts[0]) + begin;
        for (std::size_t i = 0; i < n; ++i) sums[i] = load(first[i]);
        for (const void* part : parts.subspan(1)) {
            const auto* elements = static_cast<const Element*>(part) + begin;
            for (std::size_t i = 0; i < n; ++i)
                sums[i] = static_cast<Wide>(sums[i] + load(elements[i]));
        }
        auto* result = static_cast<Element*>(out) + begin;
        for (std::size_t i = 0; i < n; ++i) result[i] = store(sums[i]);
    }
}

template <class Element, class Wide = Element>
void sum_plain(std::span<const void* const> parts, std::size_t count, void* out) {
    sum_blocks<Element, Wide>(
        parts, count, out, [](Element e) { return static_cast<Wide>(e); },
        [](Wide w) { return static_cast<Element>(w); });
}

}  // namespace

void ordered_sum(std::span<const void* const> parts, std::size_t count, Dtype dtype, void* out) {
    if (parts.empty()) throw std::invalid_argument("ordered_sum: no parts to add");
    switch (dtype) {
        case Dtype::u8:
            return sum_plain<std::uint8_t>(parts, count, out);
        // Unsigned inside: overflow wraps instead of being undefined.
        case Dtype::i64:
            return sum_plain<std::int64_t, std::uint64_t>(parts, count, out);
        case Dtype::f32:
            return sum_plain<float>(parts, count, out);
        case Dtype::f64:
            return sum_plain<double>(parts, count, out);
        case Dtype::bf16:
            return sum_blocks<std::uint16_t, float>(parts, count, out, float_of_bf16,
                                                    bf16_of_float);
    }
    throw std::invalid_argument("ordered_sum: unknown dtype");
}

// The grouped sum. Exchange 1 brings piece i of a buffer from all its holders to holder i, which
// adds them in rank order; exchange 2 brings the sums back. What goes between two ranks is packed
// in the order of the list of buffers, which both know, so no sizes need to be sent.

namespace {

struct Range {
    std::int64_t begin = 0;
    std::int64_t count = 0;
};

// The first count % pieces pieces are one element longer.
Range piece(std::int64_t count, std::int64_t pieces, std::int64_t index) {
    const std::int64_t base = count / pieces, longer = count % pieces;
    return {index * base + std::min(index, longer), base + (index < longer ? 1 : 0)};
}

/// One buffer as this rank sees it.
struct Held {
    const SharedBuffer* buffer;
    std::int64_t my_index;  ///< this rank's place among the holders
    std::byte* data;
    Range mine;  ///< the piece this rank adds up

    Range piece_of(std::size_t holder_index) const {
        return piece(buffer->count, static_cast<std::int64_t>(buffer->holders.size()),
                     static_cast<std::int64_t>(holder_index));
    }
};

[[noreturn]] void reject(std::size_t index, const std::string& why) {
    throw std::invalid_argument("grouped_all_reduce: buffer " + std::to_string(index) + " " + why);
}

std::vector<Held> shared_with_others(std::span<const SharedBuffer> buffers, int rank, int size) {
    std::vector<Held> held;
    for (std::size_t b = 0; b < buffers.size(); ++b) {
        const SharedBuffer& buffer = buffers[b];
        const auto& holders = buffer.holders;
        if (buffer.count < 0) reject(b, "has a negative count");
        if (holders.empty()) reject(b, "has no holder");
        if (holders.front() < 0 || holders.back() >= size ||
            std::adjacent_find(holders.begin(), holders.end(), std::greater_equal<>()) !=
                holders.end()) {
            reject(b, "has holders that are not ascending ranks of the group");
        }
        const auto me = std::find(holders.begin(), holders.end(), rank);
        if (me == holders.end()) continue;
        if (buffer.data == nullptr && buffer.count > 0)
            reject(b, "has no data on a rank that holds it");
        if (holders.size() == 1 || buffer.count == 0) continue;
        Held entry{&buffer, me - holders.begin(), static_cast<std::byte*>(buffer.data), {}};
        entry.mine = entry.piece_of(entry.my_index);
        held.push_back(entry);
    }
    return held;
}

/// A packed buffer for all_to_all_v: a cursor per rank, in rank order.
struct Packed {
    std::vector<std::int64_t> counts;
    std::vector<std::byte*> cursor;  ///< where the next piece to or from a rank lies
    std::vector<std::byte> bytes;

    explicit Packed(int size) : counts(size, 0) {}
    void allocate(std::size_t element_bytes) {
        std::int64_t total = 0;
        for (auto count : counts) total += count;
        bytes.resize(total * element_bytes);
        std::byte* begin = bytes.data();
        for (auto count : counts) {
            cursor.push_back(begin);
            begin += count * element_bytes;
        }
    }
    void rewind(std::size_t element_bytes) {
        std::byte* begin = bytes.data();
        for (std::size_t rank = 0; rank < counts.size(); ++rank) {
            cursor[rank] = begin;
            begin += counts[rank] * element_bytes;
        }
    }
};

}  // namespace

void grouped_all_reduce(Communicator& comm, std::span<const SharedBuffer> buffers, Dtype dtype) {
    if (dtype != Dtype::f32 && dtype != Dtype::f64) {
        throw std::invalid_argument("grouped_all_reduce: dtype must be f32 or f64");
    }
    const int rank = comm.rank(), size = comm.size();
    const std::vector<Held> held = shared_with_others(buffers, rank, size);
    const std::size_t element = size_of(dtype);
    if (size == 1) return;

    // `theirs`: pieces that others add up. `ours`: the pieces we add up, one copy per other holder.
    Packed theirs(size), ours(size);
    for (const Held& h : held) {
        for (std::size_t i = 0; i < h.buffer->holders.size(); ++i) {
            const int holder = h.buffer->holders[i];
            if (holder == rank) continue;
            theirs.counts[holder] += h.piece_of(i).count;
            ours.counts[holder] += h.mine.count;
        }
    }
    theirs.allocate(element);
    ours.allocate(element);

    for (const Held& h : held) {
        for (std::size_t i = 0; i < h.buffer->holders.size(); ++i) {
            const int holder = h.buffer->holders[i];
            if (holder == rank) continue;
            const Range range = h.piece_of(i);
            std::memcpy(theirs.cursor[holder], h.data + range.begin * element,
                        range.count * element);
            theirs.cursor[holder] += range.count * element;
        }
    }
    comm.all_to_all_v(theirs.bytes.data(), theirs.counts, ours.bytes.data(), ours.counts, dtype);

    std::vector<const void*> parts;
    for (const Held& h : held) {
        std::byte* mine = h.data + h.mine.begin * element;
        parts.clear();
        for (int holder : h.buffer->holders) {
            parts.push_back(holder == rank ? mine : ours.cursor[holder]);
        }
        ordered_sum(parts, h.mine.count, dtype, mine);
        for (int holder : h.buffer->holders) {
            if (holder == rank) continue;
            std::memcpy(ours.cursor[holder], mine, h.mine.count * element);
            ours.cursor[holder] += h.mine.count * element;
        }
    }
    comm.all_to_all_v(ours.bytes.data(), ours.counts, theirs.bytes.data(), theirs.counts, dtype);

    theirs.rewind(element);
    for (const Held& h : held) {
        for (std::size_t i = 0; i < h.buffer->holders.size(); ++i) {
            const int holder = h.buffer->holders[i];
            if (holder == rank) continue;
            const Range range = h.piece_of(i);
            std::memcpy(h.data + range.begin * element, theirs.cursor[holder],
                        range.count * element);
            theirs.cursor[holder] += range.count * element;
        }
    }
}

}  // namespace assay::cluster
