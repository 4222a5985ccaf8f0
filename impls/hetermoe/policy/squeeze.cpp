#include "impls/hetermoe/policy/squeeze.hpp"

#include <algorithm>
#include <utility>

namespace assay::hetermoe {
namespace {

std::int64_t experts_of_gpu(const TrainingProfile& profile, const Group& group) {
    return std::int64_t{profile.layers} * (profile.experts / group.expert);
}

}  // namespace

std::optional<Chunks> chunks_of(const TrainingProfile& profile, const Group& group) {
    const int m = group.attention, n = group.expert;
    if (m % n != 0 && n % m != 0) return std::nullopt;
    Chunks chunks;
    chunks.taken = std::max(1, n / m);
    chunks.given = chunks.taken * m / n;
    chunks.per_layer = profile.experts / (n * chunks.given);
    chunks.most = std::int64_t{profile.layers} * chunks.per_layer;
    if (profile.old_kind.capacity) {
        const Wide homeless = Wide{experts_of_gpu(profile, group)} - *profile.old_kind.capacity;
        chunks.least =
            static_cast<std::int64_t>(std::max(Wide{0}, ceil_div(homeless, chunks.given)));
    }
    if (profile.new_kind.capacity)
        chunks.most = std::min(chunks.most, *profile.new_kind.capacity / chunks.taken);
    return chunks;
}

bool fits_unmoved(const TrainingProfile& profile, const Group& group) {
    return !profile.old_kind.capacity ||
           experts_of_gpu(profile, group) <= *profile.old_kind.capacity;
}

std::vector<int> squeeze(const TrainingProfile& profile, const Group& group, const Chunks& chunks,
                         Asym asym) {
    const Fraction layers(profile.layers), shares(group.attention, group.expert);
    const Fraction old_time = shares * profile.old_kind.expert;  // T_E
    const Fraction new_time = shares * profile.new_kind.expert;  // T_X
    // What a micro-batch waits for in a layer, and by how much less for each chunk that moves.
    const Fraction gathered =
        std::max(old_time - Fraction(*profile.new_kind.attention), Fraction(0));
    int given = chunks.given, taken = chunks.taken;
    if (asym == Asym::printed) std::swap(given, taken);
    const Fraction squeezed = Fraction(group.expert, profile.experts) *
                              (old_time * Fraction(given) + new_time * Fraction(taken));
    const Fraction per_layer = std::clamp(gathered / squeezed, Fraction(chunks.least) / layers,
                                          Fraction(chunks.most) / layers);
    std::vector<int> moved;
    Wide so_far = 0;
    for (int layer = 1; layer <= profile.layers; ++layer) {
        const Wide due =
            floor_div(checked_product(per_layer.numerator(), layer), per_layer.denominator()) -
            so_far;
        moved.push_back(static_cast<int>(std::min(Wide{chunks.per_layer}, due)));
        so_far += moved.back();
    }
    return moved;
}

std::vector<int> offload_of(const std::vector<int>& chunks_per_layer, const Chunks& chunks) {
    std::vector<int> offload;
    for (const int moved : chunks_per_layer) offload.push_back(moved * chunks.given);
    return offload;
}

}  // namespace assay::hetermoe
