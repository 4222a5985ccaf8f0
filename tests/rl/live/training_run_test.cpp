// A training by reward over real processes, one of which is killed at work: the weights are, bit
// for bit, those of a training that nothing befell.
#include "impls/rl/live/training_run.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "impls/decode/service/engine_role.hpp"
#include "impls/nn/files/decoder_config.hpp"
#include "impls/rl/live/trainer.hpp"
#include "suite/drive/processes/process_driver.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::rl {
namespace {

class Training {
  public:
    Training() {
        nn::DecoderConfig& model = settings.trainer.model;
        model.layers = 2;
        model.width = 32;
        model.hidden = 64;
        model.heads = model.kv_heads = 2;
        model.head_width = 16;
        model.vocabulary = 256;
        model.context = 32;
        settings.trainer.difficulty = settings.samples.difficulty = 2;
        settings.trainer.shown_steps = 40;
        settings.trainer.folder = folder.path().string();
        settings.samples.samples = 8;
        settings.engine.options.model = "policy";
        settings.engine.options.max_batch = 4;
        settings.engine.blocks = 32;
        settings.engine.threads = 1;
        settings.engines = 3;
        settings.updates = 4;
    }
    /// after: may strike the driver's workers.
    TrainingCourse run(
        const std::function<void(drive::Driver&, const TrainingRun::Now&)>& after = {}) {
        MemoryRecorder recorder;
        drive::ProcessDriver driver(
            {trainer_role(), decode::engine_role(decode::models_of_files())}, {}, recorder);
        return TrainingRun(driver, settings).run([&](const TrainingRun::Now& now) {
            if (after) after(driver, now);
        });
    }
    const testing::TemporaryFolder folder;
    TrainingRunSettings settings;
};

TEST(TrainingRun, AKilledEngineChangesNoWeight) {
    Training undisturbed;
    const TrainingCourse expected = undisturbed.run();
    ASSERT_EQ(expected.updates.size(), 4u);
    std::set<std::string> digests;
    for (const UpdateRecord& update : expected.updates) {
        digests.insert(update.weights.digest);
        EXPECT_LT(update.weights.mismatch, 1e-3);  // engine and trainer say the same of each token
    }
    EXPECT_EQ(digests.size(), 4u);  // they do change

    for (const decode::Loss loss : {decode::Loss::resume, decode::Loss::restart}) {
        Training disturbed;
        disturbed.settings.samples.loss = loss;
        std::int64_t killed_in = 0;
        const TrainingCourse found =
            disturbed.run([&](drive::Driver& driver, const TrainingRun::Now& now) {
                if (now.update != 1 + killed_in || now.open > 24 || killed_in == 2) return;
                for (const decode::EngineClient& engine : now.engines.engines()) {
                    if (!engine.ready() || now.engines.pool().with(engine.seat()).empty()) continue;
                    driver.strike({.kind = FaultKind::kill, .rank = engine.worker()});
                    ++killed_in;
                    return;
                }
            });
        EXPECT_EQ(killed_in, 2);
        EXPECT_EQ(found.engines_lost, 2);
        EXPECT_EQ(found.digest, expected.digest);
        for (std::size_t i = 0; i < expected.updates.size(); ++i)
            EXPECT_EQ(found.updates[i].weights.digest, expected.updates[i].weights.digest) << i;
    }
}

TEST(TrainingRun, TheWeightsAreAModelFile) {
    Training training;
    training.settings.updates = 1;
    const TrainingCourse course = training.run();
    EXPECT_EQ(nn::read_decoder_config(nn::TensorFile(course.updates[0].weights.path)).width, 32);
}

}  // namespace
}  // namespace assay::rl
