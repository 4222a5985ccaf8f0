#include "impls/rl/tool/tool.hpp"

namespace assay::rl {

Tool make_rl_tool() {
    Tool tool{"rl", "Reinforcement learning: tasks, rewards, advantages, losses", {}};
    tool.subcommands.push_back({"prompts", "Prompts of a task", make_prompts_command()});
    tool.subcommands.push_back({"score", "Rewards of responses", make_score_command()});
    tool.subcommands.push_back(
        {"advantages", "Advantages of groups of rewards", make_advantages_command()});
    tool.subcommands.push_back(
        {"loss", "Loss of an update, and its gradient", make_loss_command()});
    return tool;
}

}  // namespace assay::rl
