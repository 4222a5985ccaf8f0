#include "impls/foundry/experiments/decode_families.hpp"

namespace assay::foundry {

DecodeFamily family_of(Choices choices, int layers) {
    DecodeFamily family{.layers = layers};
    const auto add = [&](Change change, std::initializer_list<std::int64_t> from) {
        for (const std::int64_t batch : from) family.rules.push_back({change, batch});
    };
    if (choices == Choices::same) return family;
    add(Change::tile, {17, 65, 129, 257});
    if (choices == Choices::tiles) return family;
    add(Change::reduce, {1, 33});
    if (choices == Choices::attention) return family;
    add(Change::cluster, {65, 97, 129, 193, 257, 385});
    if (choices == Choices::products) return family;
    add(Change::programmatic, {1, 17});
    add(Change::cooperative, {1, 9});
    add(Change::edges, {5, 25});
    add(Change::priority, {49, 113});
    add(Change::rows, {225});
    return family;
}

}  // namespace assay::foundry
