// A training by reward: one trainer, engines that roll out, updates one after the other. Timing
// changes no sum: an update is made of all samples of its prompts, in their order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "impls/rl/live/messages.hpp"
#include "impls/rl/live/rollout_engines.hpp"

namespace assay::rl {

/// What an update learns from: the rewards of its samples; these, dealt out among all samples at
/// random; or, with nothing drawn, right answers to as many other questions.
enum class Feedback { rewards, shuffled, answers };
ASSAY_NAMES(Feedback, rewards, shuffled, answers)

struct TrainingRunSettings {
    Feedback feedback = Feedback::rewards;
    SampleSettings samples;
    TrainerSettings trainer;
    decode::EngineSettings engine;
    int engines = 1;
    std::int64_t updates = 1;
    int prompts = 4;         ///< of an update
    int tested_prompts = 0;  ///< held out, answered greedily before the first update and in the end
};

struct UpdateRecord {
    double reward = 0, truncated = 0;  ///< means over samples
    double length = 0;                 ///< tokens of a sample
    double zero_variance = 0;          ///< share of groups
    Weights weights;                   ///< that came of it
};

/// Likeliest answers to held-out prompts.
struct Tested {
    double accuracy = 0;  ///< share of rewards of 1
    std::vector<SampleGroup> answers;
};

struct TrainingCourse {
    Tested before, after;
    std::vector<UpdateRecord> updates;
    std::string digest;  ///< of the last weights
    long engines_lost = 0;
    long resumed = 0;              ///< samples whose tokens several engines made
    long asked = 0, answered = 0;  ///< requests for samples, and ends that were told of
    long stale_tokens = 0;         ///< of other weights than the update's
};

class TrainingRun {
  public:
    /// `driver` knows the roles "trainer" and "engine" and outlives it.
    TrainingRun(drive::Driver& driver, const TrainingRunSettings& settings);

    /// Told of after each thing that was heard; may strike faults.
    struct Now {
        std::int64_t update = 0;  ///< from 0
        std::size_t open = 0;     ///< samples of it
        decode::Engines& engines;
    };
    /// Throws SampleLost, std::runtime_error: the trainer or an engine ended by itself.
    TrainingCourse run(const std::function<void(const Now&)>& after = {});

  private:
    void hear();
    void on(const drive::DriverEvent& event);
    void collect();
    std::vector<tasks::Question> questions(int count) const;
    Tested test();
    void draw(UpdateRecord& record, std::vector<TrainedRow>& rows);
    void show(UpdateRecord& record, std::vector<TrainedRow>& rows) const;
    UpdateRecord update();

    drive::Driver& driver_;
    TrainingRunSettings settings_;
    decode::Engines engines_;
    RolloutEngines rollouts_;
    nn::Tokenizer tokenizer_ = nn::Tokenizer::bytes();
    SampleGroups groups_, tested_;
    drive::WorkerId trainer_ = -1;
    std::vector<Weights> came_;  // and were not looked at
    std::string how_trainer_ended_;
    std::function<void(const Now&)> after_;
    std::int64_t made_ = 0;  // updates
    Weights weights_;        // of which samples are drawn
    TrainingCourse course_;
};

}  // namespace assay::rl
