// Questions answered by engines in processes of their own, under faults that are real: the
// controller and the placement of policy/, engines of impls/decode/service.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "impls/decode/service/engine_role.hpp"
#include "impls/plato/campaign/misdeed.hpp"
#include "impls/plato/live/desk.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::plato {

struct ServedSetup {
    std::vector<QuestionTokens> questions;
    /// One after the other; each finds caches that are empty but for static parts. Else all at
    /// once.
    bool in_turn = true;
    AnswerSettings answer;
    int engines = 1;
    AdaptiveModel adaptive;
    int small_engines = 0;            ///< beside them, for nodes that are easy
    decode::EngineSettings engine{};  ///< of each; of its options max_batch and chunk count
    std::string small_weights{};      ///< of small engines
    decode::EngineModel model{};      ///< what their weights say
    double patience_s = 1;            ///< until an engine that says nothing is given up
    /// At times since all engines are ready and warm; `rank` is the engine, counted round. Another
    /// engine takes the place of one that is lost.
    std::vector<Fault> faults{};
    Misdeed misdeed = Misdeed::none;
};

struct ServedOutcome {
    struct Answer {
        std::vector<AnsweredPart> parts;  ///< without a plan one
        double seconds = 0;               ///< from the question to the whole answer
        std::int64_t prompt_tokens = 0, recomputed_tokens = 0;  ///< of nodes; without a plan of it
    };
    std::vector<Answer> answers;       ///< by question
    double seconds = 0;                ///< of all; warming and making room are not in it
    std::int64_t computed_tokens = 0;  ///< fed by the engines that are there at the end
    int held_blocks = 0;               ///< in the end, caches emptied; of all engines the most
    double late_s = 0;  ///< paced: by which something was told too late, at the worst
    std::map<std::string, long> counts;
};

/// Forks: to be called in a process with one thread. corrupt: a part that has no links moves to
/// another engine and its state is damaged on the way; it goes on from its tokens. Throws
/// BrokenRule, UserError for a fault of another kind or settings that make no sense, SampleError
/// (interrupted; failed: an engine cannot start).
ServedOutcome answer_on_processes(const ServedSetup& setup);

}  // namespace assay::plato
