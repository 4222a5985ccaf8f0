#include "impls/rl/policy/sample_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "impls/decode/pool/choosers.hpp"
#include "suite/base/error.hpp"
#include "suite/measure/statistics/counter_draws.hpp"

namespace assay::rl {
namespace {

std::vector<int> tokens_with_newline(const nn::Tokenizer& tokenizer) {
    std::vector<int> found;
    for (int id = 0; id < tokenizer.size(); ++id)
        if (tokenizer.decode({&id, 1}).find('\n') != std::string::npos) found.push_back(id);
    return found;
}

std::uint64_t seed_of(std::uint64_t seed, int version, std::size_t prompt, std::size_t sample) {
    using statistics::scramble;
    const auto with = [](std::uint64_t key, std::uint64_t more) { return scramble(key + more); };
    return with(with(with(scramble(seed), static_cast<std::uint64_t>(version)), prompt), sample);
}

}  // namespace

SampleGroups::SampleGroups(decode::Pool& pool, const nn::Tokenizer& tokenizer,
                           const SampleSettings& settings)
    : pool_(pool),
      tokenizer_(tokenizer),
      settings_(settings),
      stops_(tokens_with_newline(tokenizer)) {
    static_cast<void>(tasks::length_limit(settings.task, settings.difficulty));
    if (settings.samples < 1) throw UserError("a group has at least one sample");
}

void SampleGroups::ask(int version, std::span<const tasks::Question> questions) {
    if (!groups_.empty()) throw std::logic_error("the samples before were not taken");
    for (const tasks::Question& question : questions) {
        const std::size_t prompt = groups_.size();
        SampleGroup& group = groups_.emplace_back();
        group.question = question;
        group.prompt = tokenizer_.encode(question.prompt);
        group.samples.resize(static_cast<std::size_t>(settings_.samples));
        for (std::size_t sample = 0; sample < group.samples.size(); ++sample) {
            decode::BatchRequest request{.prompt = group.prompt};
            request.max_tokens = tasks::length_limit(settings_.task, settings_.difficulty);
            request.stop_ids = stops_;
            request.sampling = {.temperature = settings_.temperature,
                                .seed = seed_of(settings_.seed, version, prompt, sample)};
            const decode::Number number =
                pool_.ask({.request = std::move(request), .loss = settings_.loss});
            places_[number] = {prompt, sample};
        }
    }
}

void SampleGroups::on_done(const decode::Done& done) {
    const auto found = places_.find(done.request);
    if (found == places_.end()) return;
    SampleGroup& group = groups_[found->second.group];
    if (done.how != decode::Done::How::ended)
        throw SampleLost(fmt::format("sample {} of \"{}\" cannot be had", found->second.sample,
                                     group.question.prompt));
    Sample& sample = group.samples[found->second.sample];
    const auto tokens = pool_.tokens(done.request);
    const auto runs = pool_.runs(done.request);
    sample.tokens.assign(tokens.begin(), tokens.end());
    sample.runs.assign(runs.begin(), runs.end());
    sample.truncated = done.end.why != decode::Finish::stop;
    std::vector<int> ids;
    for (const decode::Token& token : tokens) ids.push_back(token.id);
    sample.response = tokenizer_.decode(ids);
    if (!sample.truncated) {
        sample.response.resize(sample.response.find('\n'));
        sample.reward = tasks::reward(settings_.task, group.question.answer, sample.response);
    }
    places_.erase(found);
    pool_.forget(done.request);
}

std::vector<SampleGroup> SampleGroups::take() {
    if (!complete()) throw std::logic_error("not all samples are there");
    return std::exchange(groups_, {});
}

std::optional<decode::Seat> StaticPool::choose(decode::Number request,
                                               std::span<const decode::Place> places) {
    std::vector<decode::Place> fit;
    for (const decode::Place& place : places)
        if (place.version == version_) fit.push_back(place);
    return decode::fewest_given(fit, pool_.asked(request).model);
}

}  // namespace assay::rl
