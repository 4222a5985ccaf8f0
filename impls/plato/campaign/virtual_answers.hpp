// Questions answered by several engines in virtual time, under faults: the controller and the
// placement of policy/, the engine of impls/decode with a model of time in place of a model.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "impls/decode/modelled/modelled_back_end.hpp"
#include "impls/plato/campaign/misdeed.hpp"
#include "impls/plato/live/desk.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::plato {

struct VirtualSetup {
    std::vector<QuestionTokens> questions;
    std::vector<double> come_s;  ///< of each question
    AnswerSettings answer;
    int engines = 1;
    /// Beside them, with a second model, whose steps take `small_factor` of the time and whose
    /// tokens are others: for nodes that are easy.
    AdaptiveModel adaptive;
    int small_engines = 0;
    double small_factor = 1;
    int max_batch = 8;  ///< of each
    int blocks = 0;     ///< of each
    int vocabulary = 1000, context = 2000;
    decode::StepCost cost;
    double patience_s = 40;  ///< until an engine that says nothing is given up
    /// `rank` is the engine, counted round. kill, and a hang in which it is given up: another takes
    /// its place after `for_s`. corrupt: a bit of its next report is wrong.
    std::vector<Fault> faults;
    double restart_s = 10;   ///< kill and hang without for_s
    std::uint64_t seed = 1;  ///< of the bits that are damaged
    bool checks = false;     ///< the back ends look at every position: slow
    Misdeed misdeed = Misdeed::none;
};

struct VirtualOutcome {
    std::vector<std::vector<AnsweredPart>> parts;  ///< [question][part]
    double seconds = 0;                            ///< until all is answered
    std::int64_t computed_tokens = 0;              ///< fed to engines, however often
    std::map<std::string, long> counts;
};

/// Throws BrokenRule, UserError for a fault of another kind.
VirtualOutcome answer_virtually(const VirtualSetup& setup);

}  // namespace assay::plato
