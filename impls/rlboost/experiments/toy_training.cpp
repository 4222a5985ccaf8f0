#include "impls/rlboost/experiments/toy_training.hpp"

namespace assay::rlboost {

rl::TrainingRunSettings toy_training(rl::tasks::Task task, int difficulty, std::uint64_t seed,
                                     const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    rl::TrainingRunSettings settings;
    settings.samples = {.task = task, .difficulty = difficulty, .seed = seed};
    settings.trainer.model = {.layers = 2,
                              .width = 64,
                              .hidden = 128,
                              .heads = 2,
                              .kv_heads = 2,
                              .head_width = 32,
                              .vocabulary = 256,
                              .context = 64};
    settings.trainer.seed = seed;
    settings.trainer.task = to_string(task);
    settings.trainer.difficulty = difficulty;
    settings.trainer.folder = folder.string();
    settings.engine.options.max_batch = 32;
    settings.engine.options.model = "policy";
    settings.engine.blocks = 160;
    settings.engine.threads = 1;
    return settings;
}

}  // namespace assay::rlboost
