// Questions answered by several engines in virtual time, under faults: the controller and the
// placement of policy/, the engine of impls/decode with a model of time in place of a model.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "impls/decode/modelled/modelled_back_end.hpp"
#include "impls/plato/live/answering.hpp"
#include "impls/plato/policy/placement.hpp"

namespace assay::plato {

/// kill: an engine loses all and is there again, empty, after a time. hang: it stands still.
/// slow: its steps take longer by a factor from now on. corrupt: a bit of its next report is
/// wrong. wipe: its cache is empty.
enum class FaultKind { kill, hang, slow, corrupt, wipe };
std::string_view to_string(FaultKind kind);

struct VirtualFault {
    double at_s = 0;
    FaultKind kind = FaultKind::kill;
    int engine = 0;
    double for_s = 0;       ///< kill, hang
    double factor = 1;      ///< slow
    std::uint64_t bit = 0;  ///< corrupt: of the report, counted round
};

/// What the driver does wrong, for tests that rules can be broken.
enum class Misdeed {
    none,
    believes_corruption,  ///< takes a report whose checksum is wrong
    forgets_a_token,      ///< a part that goes on elsewhere lacks its last token
    hears_the_lost,       ///< takes tokens from an engine that it gave up
    starts_early,         ///< does not tell controllers what nodes depend on
    keeps_a_part          ///< does not tell an engine that comes back what it has lost
};

struct VirtualSetup {
    std::vector<QuestionTokens> questions;
    std::vector<double> come_s;  ///< of each question
    AnswerSettings answer;       ///< any level of reuse but linked
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
    std::vector<VirtualFault> faults;
    bool checks = false;  ///< the back ends look at every position: slow
    Misdeed misdeed = Misdeed::none;
};

struct VirtualOutcome {
    struct Part {
        std::vector<int> ids;
        std::vector<double> log_probabilities;
        bool operator==(const Part&) const = default;
    };
    std::vector<std::vector<Part>> parts;  ///< [question][part]
    double seconds = 0;                    ///< until all is answered
    std::int64_t computed_tokens = 0;      ///< fed to engines, however often
    std::map<std::string, long> counts;
};

/// A rule that was not kept: a node started before its line or what it waits for was out, an answer
/// came twice, or never; a damaged report was believed; a block was left.
class BrokenRule : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws BrokenRule.
VirtualOutcome answer_virtually(const VirtualSetup& setup);

}  // namespace assay::plato
