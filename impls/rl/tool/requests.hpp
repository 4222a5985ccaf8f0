// What the commands read: JSON of others, checked to the last number. All throw UserError,
// "NAME: …" or "NAME:LINE:COLUMN: …" with what to give instead; `name` is the input's.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "impls/rl/method/advantages.hpp"
#include "impls/rl/method/token_loss.hpp"
#include "impls/rl/tasks/task.hpp"

namespace assay::rl {

/// A response to a prompt of a task, and what it should have been.
struct ScoredResponse {
    std::string prompt, answer, response;
    double reward = 0;
};

/// Lines {"prompt","response"}, at least one; empty lines and other keys are passed over.
std::vector<ScoredResponse> read_responses(std::istream& in, const std::string& name,
                                           tasks::Task task, int difficulty);

struct RewardGroups {
    std::vector<std::vector<double>> rewards;  ///< at least one group, none of them empty
    Estimator estimator = Estimator::grpo;
};

/// {"rewards":[[…]…],"estimator":"grpo"}
RewardGroups read_rewards(std::string_view text, const std::string& name);

struct LossRequest {
    LossRows rows;  ///< at least one token is scored
    LossSettings settings;
};

/// {"new","old","ref"?,"mask"?,"advantages","clip":[lo,hi],"dual_clip"?,"kl"?:{"estimator",
/// "coefficient"},"aggregate","max_tokens"?}; what may be left out may be null.
LossRequest read_loss(std::string_view text, const std::string& name);

}  // namespace assay::rl
