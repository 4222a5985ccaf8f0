#include "impls/rl/live/training_run.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "suite/measure/statistics/counter_draws.hpp"

namespace assay::rl {
namespace {

SampleSettings greedy(SampleSettings settings) {
    settings.samples = 1;
    settings.temperature = 0;
    return settings;
}

/// The values in an order that a seed decides (Fisher and Yates).
void shuffle(std::vector<double>& values, std::uint64_t seed) {
    statistics::CounterDraws draws(seed);
    for (std::size_t left = values.size(); left > 1; --left)
        std::swap(values[left - 1], values[draws.index(static_cast<std::uint32_t>(left))]);
}

}  // namespace

TrainingRun::TrainingRun(drive::Driver& driver, const TrainingRunSettings& settings)
    : driver_(driver),
      settings_(settings),
      engines_(driver),
      rollouts_(engines_, settings.engine, settings.engines),
      groups_(engines_.pool(), tokenizer_, settings.samples),
      tested_(engines_.pool(), tokenizer_, greedy(settings.samples)) {
    engines_.listen([this](const drive::DriverEvent& event) { on(event); });
    engines_.hear_requests({.tokens = {}, .done = [this](const decode::Done& done) {
                                groups_.on_done(done);
                                tested_.on_done(done);
                                ++course_.answered;
                            }});
    trainer_ = driver_.spawn({.role = "trainer"}, drive::to_json(settings_.trainer));
}

void TrainingRun::on(const drive::DriverEvent& event) {
    if (const auto* const said = std::get_if<drive::Said>(&event);
        said && said->worker == trainer_) {
        try {
            came_.push_back(said->message.to<Weights>());
        } catch (const drive::MessageError& error) {
            how_trainer_ended_ = error.what();
        }
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
    rollouts_.publish(weights_.version, weights_.path);
    course_.before = test();
    for (; made_ < settings_.updates; ++made_) {
        course_.updates.push_back(update());
        weights_ = course_.updates.back().weights;
        rollouts_.publish(weights_.version, weights_.path);
    }
    course_.after = test();
    course_.digest = weights_.digest;
    course_.engines_lost = rollouts_.lost();
    return std::move(course_);
}

/// Of the present update.
std::vector<tasks::Question> TrainingRun::questions(int count) const {
    return tasks::distinct_questions(settings_.samples.task, settings_.samples.difficulty,
                                     settings_.samples.seed + static_cast<std::uint64_t>(made_),
                                     static_cast<std::size_t>(count), tasks::Split::train);
}

Tested TrainingRun::test() {
    Tested tested;
    if (settings_.tested_prompts == 0) return tested;
    tested_.ask(weights_.version,
                tasks::distinct_questions(
                    settings_.samples.task, settings_.samples.difficulty, settings_.samples.seed,
                    static_cast<std::size_t>(settings_.tested_prompts), tasks::Split::held_out));
    course_.asked += static_cast<long>(tested_.open());
    while (!tested_.complete()) hear();
    tested.answers = tested_.take();
    for (const SampleGroup& each : tested.answers)
        tested.accuracy += each.samples[0].reward == 1 ? 1.0 / settings_.tested_prompts : 0;
    return tested;
}

UpdateRecord TrainingRun::update() {
    UpdateRecord record;
    Update update;
    if (settings_.feedback == Feedback::answers)
        show(record, update.rows);
    else
        draw(record, update.rows);
    for (const TrainedRow& row : update.rows)
        record.length += static_cast<double>(row.tokens.size());
    const auto samples = static_cast<double>(update.rows.size());
    for (double* const mean : {&record.reward, &record.truncated, &record.length}) *mean /= samples;
    driver_.send(trainer_, update);
    while (came_.empty()) hear();
    record.weights = std::exchange(came_, {}).front();
    return record;
}

/// Right answers, each as good as the other: the gradient is that of their likelihood.
void TrainingRun::show(UpdateRecord& record, std::vector<TrainedRow>& rows) const {
    for (const tasks::Question& each : questions(settings_.prompts * settings_.samples.samples)) {
        rows.push_back({.prompt = tokenizer_.encode(each.prompt),
                        .tokens = tokenizer_.encode(each.answer + '\n'),
                        .logprobs = {},
                        .advantage = 1});
        ++record.reward;
    }
}

void TrainingRun::draw(UpdateRecord& record, std::vector<TrainedRow>& rows) {
    groups_.ask(weights_.version, questions(settings_.prompts));
    course_.asked += static_cast<long>(groups_.open());
    while (!groups_.complete()) hear();
    const std::vector<SampleGroup> groups = groups_.take();
    std::vector<double> rewards;
    for (const SampleGroup& group : groups)
        for (const Sample& sample : group.samples) {
            rewards.push_back(sample.reward);
            record.reward += sample.reward;
            record.truncated += sample.truncated ? 1 : 0;
            course_.resumed += sample.runs.size() > 1 ? 1 : 0;
            for (const decode::Run& run : sample.runs)
                if (run.version != weights_.version) course_.stale_tokens += run.tokens;
            TrainedRow& row = rows.emplace_back();
            row.prompt = group.prompt;
            for (const decode::Token& token : sample.tokens) {
                row.tokens.push_back(token.id);
                row.logprobs.push_back(token.logprob);
            }
        }
    if (settings_.feedback == Feedback::shuffled)
        shuffle(rewards, settings_.samples.seed + static_cast<std::uint64_t>(made_));
    const auto each = static_cast<std::size_t>(settings_.samples.samples);
    for (std::size_t first = 0; first < rows.size(); first += each) {
        const GroupAdvantages of =
            advantages_of(std::span(rewards).subspan(first, each), settings_.trainer.estimator);
        record.zero_variance += of.zero_variance ? 1.0 / static_cast<double>(groups.size()) : 0;
        for (std::size_t i = 0; i < each; ++i) rows[first + i].advantage = of.advantages[i];
    }
}

}  // namespace assay::rl
