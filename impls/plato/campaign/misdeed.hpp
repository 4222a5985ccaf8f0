// What the driver of a schedule does wrong, for tests that rules can be broken.
#pragma once

#include <vector>

#include "impls/plato/live/question.hpp"

namespace assay::plato {

enum class Misdeed {
    none,
    believes_corruption,  ///< takes a report whose checksum is wrong
    forgets_a_token,      ///< a part that goes on elsewhere lacks its last token
    hears_the_lost,       ///< takes tokens from an engine that it gave up
    starts_early,         ///< does not tell controllers what nodes depend on
    keeps_a_part          ///< does not tell an engine that comes back what it has lost
};

/// The questions as their controllers are told of them.
inline std::vector<QuestionTokens> as_told(std::vector<QuestionTokens> questions, Misdeed misdeed) {
    if (misdeed == Misdeed::starts_early)
        for (QuestionTokens& question : questions)
            for (NodeRecord& node : question.plan.nodes) node.dependencies.clear();
    return questions;
}

}  // namespace assay::plato
