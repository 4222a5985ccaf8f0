#include "impls/hetermoe/policy/expert_map.hpp"

#include <cassert>

namespace assay::hetermoe {

std::vector<int> homes(int experts, const Group& group, int offload) {
    if (group.expert == 0) {
        std::vector<int> gpus;
        for (int expert = 0; expert < experts; ++expert)
            gpus.push_back(expert * group.attention / experts);
        return gpus;
    }
    const int each = experts / group.expert, block = offload * group.expert / group.attention;
    assert(experts % group.expert == 0 && block * group.attention == offload * group.expert);
    std::vector<int> gpus;
    int moved = 0;
    for (int expert = 0; expert < experts; ++expert) {
        const bool stays = expert % each < each - offload;
        gpus.push_back(stays ? group.attention + expert / each : moved++ / block);
    }
    return gpus;
}

}  // namespace assay::hetermoe
