// What `assay rl` reads: a UserError, or rewards, advantages and losses that can be believed.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "impls/rl/tool/requests.hpp"
#include "suite/base/error.hpp"

namespace {

using namespace assay::rl;

void believe(bool right) {
    if (!right) std::abort();
}

void check_responses(const std::string& text) {
    for (const auto task : assay::values_of<tasks::Task>) {
        std::istringstream in(text);
        try {
            for (const ScoredResponse& each : read_responses(in, "fuzz", task, 2)) {
                believe(each.reward == 0 || each.reward == 1 || each.reward == 0.2);
                believe((each.reward == 1) == (each.response == each.answer));
            }
        } catch (const assay::UserError&) {
        }
    }
}

void check_rewards(const std::string& text) {
    const RewardGroups groups = read_rewards(text, "fuzz");
    believe(!groups.rewards.empty());
    for (const auto& rewards : groups.rewards) {
        const GroupAdvantages group = advantages_of(rewards, groups.estimator);
        believe(group.advantages.size() == rewards.size());
        for (const double advantage : group.advantages) believe(std::isfinite(advantage));
    }
}

void check_loss(const std::string& text) {
    const LossRequest request = read_loss(text, "fuzz");
    const TokenLoss loss = token_loss(request.rows, request.settings);
    believe(std::isfinite(loss.loss) && std::isfinite(loss.kl));
    believe(loss.clipped_share >= 0 && loss.clipped_share <= 1);
    believe(loss.gradient.size() == request.rows.now.size());
    for (std::size_t s = 0; s < loss.gradient.size(); ++s) {
        believe(loss.gradient[s].size() == request.rows.now[s].size());
        for (const double slope : loss.gradient[s]) believe(std::isfinite(slope));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    check_responses(text);
    for (const auto check : {check_rewards, check_loss}) {
        try {
            check(text);
        } catch (const assay::UserError&) {
        }
    }
    return 0;
}
