// Deltas the slow way, written from the format alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <span>
#include <vector>

namespace assay::weights {

using Elements = std::vector<std::uint16_t>;
using Raw = std::vector<std::byte>;

inline Raw raw(const Elements& elements) {
    Raw bytes;
    for (const std::uint16_t element : elements)
        for (const int shift : {0, 8}) bytes.push_back(static_cast<std::byte>(element >> shift));
    return bytes;
}

/// `number` in `size` bytes.
inline void append(Raw& bytes, std::uint64_t number, int size) {
    for (int i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(number >> (8 * i)));
}

/// The changes in this order, right or wrong.
struct NaiveDelta {
    std::vector<std::uint64_t> offsets;
    Elements values;
    bool wide = false;

    Raw bytes() const {
        Raw file;
        append(file, offsets.size(), 8);
        append(file, 2, 2);
        append(file, wide ? 1 : 0, 2);
        append(file, 0, 4);
        for (const std::uint64_t offset : offsets) append(file, offset, wide ? 8 : 4);
        const Raw behind = raw(values);
        file.insert(file.end(), behind.begin(), behind.end());
        return file;
    }
};

inline NaiveDelta naive_delta(const Elements& before, const Elements& after, bool wide = false) {
    NaiveDelta delta{.offsets = {}, .values = {}, .wide = wide};
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i] == after[i]) continue;
        delta.offsets.push_back(i);
        delta.values.push_back(after[i]);
    }
    return delta;
}

inline Elements random_elements(std::size_t count, std::mt19937_64& random) {
    Elements elements(count);
    for (std::uint16_t& element : elements) element = static_cast<std::uint16_t>(random());
    return elements;
}

/// Each element changes with this probability.
inline Elements changed_at_random(Elements elements, double share, std::mt19937_64& random) {
    std::bernoulli_distribution changes(share);
    for (std::uint16_t& element : elements)
        if (changes(random))
            element = static_cast<std::uint16_t>(element ^ (std::uint16_t{1} << (random() % 16)));
    return elements;
}

}  // namespace assay::weights
