#include "impls/rl/live/training_run.hpp"

#include <stdexcept>
#include <utility>

namespace assay::rl {

TrainingRun::TrainingRun(drive::Driver& driver, const TrainingRunSettings& settings)
    : driver_(driver),
      settings_(settings),
      engines_(driver),
      rollouts_(engines_, settings.engine, settings.engines),
      groups_(engines_.pool(), tokenizer_, settings.samples) {
    engines_.listen([this](const drive::DriverEvent& event) { on(event); });
    engines_.hear_requests({.tokens = {}, .done = [this](const decode::Done& done) {
                                ++course_.answered;
                                groups_.on_done(done);
                            }});
    trainer_ = driver_.spawn({.role = "trainer"}, drive::to_json(settings_.trainer));
}

void TrainingRun::on(const drive::DriverEvent& event) {
    if (const auto* const said = std::get_if<drive::Said>(&event);
        said && said->worker == trainer_) {
        came_.push_back(said->message.to<Weights>());
    } else if (const auto* const died = std::get_if<drive::Died>(&event);
               died && died->worker == trainer_) {
        how_trainer_ended_ = driver_.how_ended(trainer_);
    }
}

void TrainingRun::hear() {
    if (!engines_.hear()) throw std::runtime_error("the training waits, and nothing can happen");
    if (!how_trainer_ended_.empty())
        throw std::runtime_error("the trainer ended: " + how_trainer_ended_);
    rollouts_.look();
    if (after_) after_({made_, groups_.open(), engines_});
}

TrainingCourse TrainingRun::run(const std::function<void(const Now&)>& after) {
    after_ = after;
    while (came_.empty()) hear();
    weights_ = std::exchange(came_, {}).front();
    for (; made_ < settings_.updates; ++made_) {
        rollouts_.publish(weights_.version, weights_.path);
        groups_.ask(weights_.version,
                    tasks::distinct_questions(
                        settings_.samples.task, settings_.samples.difficulty,
                        settings_.samples.seed + static_cast<std::uint64_t>(made_),
                        static_cast<std::size_t>(settings_.prompts), tasks::Split::train));
        course_.asked += static_cast<long>(groups_.open());
        while (!groups_.complete()) hear();
        course_.updates.push_back(update());
        weights_ = course_.updates.back().weights;
    }
    course_.digest = weights_.digest;
    course_.engines_lost = rollouts_.lost();
    return std::move(course_);
}

UpdateRecord TrainingRun::update() {
    UpdateRecord record;
    Update update;
    const std::vector<SampleGroup> groups = groups_.take();
    double samples = 0;
    for (const SampleGroup& group : groups) {
        std::vector<double> rewards;
        for (const Sample& sample : group.samples) rewards.push_back(sample.reward);
        const GroupAdvantages of = advantages_of(rewards, settings_.trainer.estimator);
        record.zero_variance += of.zero_variance ? 1.0 / static_cast<double>(groups.size()) : 0;
        for (std::size_t i = 0; i < group.samples.size(); ++i) {
            const Sample& sample = group.samples[i];
            TrainedRow& row = update.rows.emplace_back();
            row.prompt = group.prompt;
            for (const decode::Token& token : sample.tokens) {
                row.tokens.push_back(token.id);
                row.logprobs.push_back(token.logprob);
            }
            row.advantage = of.advantages[i];
            record.reward += sample.reward;
            record.truncated += sample.truncated ? 1 : 0;
            record.length += static_cast<double>(sample.tokens.size());
            course_.resumed += sample.runs.size() > 1 ? 1 : 0;
            for (const decode::Run& run : sample.runs)
                if (run.version != weights_.version) course_.stale_tokens += run.tokens;
            ++samples;
        }
    }
    for (double* const mean : {&record.reward, &record.truncated, &record.length}) *mean /= samples;
    driver_.send(trainer_, update);
    while (came_.empty()) hear();
    record.weights = std::exchange(came_, {}).front();
    return record;
}

}  // namespace assay::rl
