#include "impls/plato/policy/placement.hpp"

#include <algorithm>

namespace assay::plato {

std::int64_t Placement::cached(int engine, std::span<const int> prompt) const {
    std::int64_t most = 0;
    for (const std::vector<int>& sequence : at(engine).sequences) {
        const auto [end, unused] =
            std::mismatch(prompt.begin(), prompt.end(), sequence.begin(), sequence.end());
        most = std::max<std::int64_t>(most, end - prompt.begin());
    }
    return most;
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
    at(engine).sequences.emplace_back(prompt.begin(), prompt.end());
}

void Placement::on_ended(int engine, std::span<const int> tokens) {
    --at(engine).running;
    at(engine).sequences.emplace_back(tokens.begin(), tokens.end() - 1);
}

void Placement::on_taken_back(int engine) { --at(engine).running; }

void Placement::on_wiped(int engine) { at(engine).sequences.clear(); }

void Placement::on_lost(int engine) {
    Engine& lost = at(engine);
    lost.usable = false;
    lost.running = 0;
    lost.sequences.clear();
}

void Placement::on_back(int engine) { at(engine).usable = true; }

}  // namespace assay::plato
