// What schedules of faults have in common: questions drawn by a seed, and the text that they have
// without faults.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "impls/plato/live/desk.hpp"
#include "impls/plato/live/live_run.hpp"

namespace assay::plato {

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    std::uint64_t below(std::uint64_t n) { return random_() % n; }
    std::int64_t between(std::int64_t least, std::int64_t most) {
        return least +
               static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least + 1)));
    }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    /// Whole eighths.
    double seconds(std::uint64_t most) { return static_cast<double>(below(most * 8)) / 8; }

  private:
    std::mt19937_64 random_;
};

/// The most of each; the least is 1, of instructions 0.
struct PlanBounds {
    std::int64_t question = 20, instruction = 40, nodes = 7, line = 8, lead = 6, out = 40;
};
PlanRecord draw_plan(Dice& dice, int number, const PlanBounds& bounds = {});

/// Plato most of the time: what it does is what is looked at. `name`: empty, or that one.
Mode draw_mode(Dice& dice, const std::string& name);

/// Throws BrokenRule where a part has another text, or another probability, than in `undisturbed`,
/// a run of the same questions on one engine that has room for all. parts: [question][part], the
/// plan before the nodes.
void check_text(const LiveRun& undisturbed, Mode mode,
                std::span<const std::vector<AnsweredPart>> parts);

}  // namespace assay::plato
