#include "impls/plato/policy/placement.hpp"

#include <algorithm>

namespace assay::plato {

Placement::Placement(int engines, int blocks) {
    for (int engine = 0; engine < engines; ++engine) engines_.emplace_back(blocks);
}

int Placement::choose(std::span<const int> prompt, std::int64_t most_reused, int model,
                      std::span<const std::int64_t> besides) const {
    int best = -1;
    std::int64_t most = 0;
    for (int engine = 0; engine < static_cast<int>(engines_.size()); ++engine) {
        if (!usable(engine) || at(engine).model != model) continue;
        std::int64_t here = most_reused > 0 ? std::min(cached(engine, prompt), most_reused) : 0;
        if (!besides.empty()) here += besides[static_cast<std::size_t>(engine)];
        if (best >= 0 && (here < most || (here == most && running(engine) >= running(best))))
            continue;
        best = engine;
        most = here;
    }
    return best;
}

void Placement::on_started(int engine, std::span<const int> prompt) {
    ++at(engine).running;
    at(engine).prefixes.add(prompt);
}

void Placement::on_ended(int engine, std::span<const int> tokens) {
    --at(engine).running;
    at(engine).prefixes.add(tokens.first(tokens.size() - 1));
}

void Placement::on_taken_back(int engine) { --at(engine).running; }

void Placement::on_wiped(int engine) { at(engine).prefixes.clear(); }

void Placement::on_lost(int engine) {
    Engine& lost = at(engine);
    lost.usable = false;
    lost.running = 0;
    lost.prefixes.clear();
}

void Placement::on_back(int engine) { at(engine).usable = true; }

}  // namespace assay::plato
