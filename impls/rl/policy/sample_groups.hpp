// The samples of an update, beside a pool of requests that answers them: groups of responses to one
// prompt, each asked for once and rewarded once. Without I/O: whoever runs the pool tells which of
// its requests are over.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "impls/decode/pool/pool.hpp"
#include "impls/nn/text/tokenizer.hpp"
#include "impls/rl/tasks/task.hpp"

namespace assay::rl {

struct SampleSettings {
    tasks::Task task = tasks::Task::sort;
    int difficulty = 3;
    int samples = 8;         ///< of a prompt: a group
    double temperature = 1;  ///< of the draws
    std::uint64_t seed = 1;
    /// Of a sample whose engine is lost; drop: the update cannot be made.
    decode::Loss loss = decode::Loss::resume;
};

struct Sample {
    std::vector<decode::Token> tokens;
    std::vector<decode::Run> runs;  ///< who made them with which weights
    std::string response;           ///< without the newline that ended it
    bool truncated = false;         ///< it had all tokens that it may have; reward 0
    double reward = 0;
};
struct SampleGroup {
    tasks::Question question;
    std::vector<int> prompt;      ///< its tokens
    std::vector<Sample> samples;  ///< [SampleSettings::samples]
};

/// A sample cannot be had: no engine takes it, it came to no finite logits, it was given up.
class SampleLost : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

class SampleGroups {
  public:
    /// Both outlive it. Throws UserError: a difficulty that there is not, no samples.
    SampleGroups(decode::Pool& pool, const nn::Tokenizer& tokenizer,
                 const SampleSettings& settings);

    /// Those of an update, once all before are taken. Sample s of prompt p is drawn as a function
    /// of (seed, version, p, s) and each token's position: whichever engine draws it.
    void ask(int version, std::span<const tasks::Question> questions);
    /// Forgets the request where it is one of these; else nothing happens. Throws SampleLost.
    void on_done(const decode::Done& done);
    bool complete() const { return places_.empty(); }
    std::size_t open() const { return places_.size(); }
    /// In the order of the prompts, whatever came first. std::logic_error: not complete.
    std::vector<SampleGroup> take();

  private:
    struct Place {
        std::size_t group, sample;
    };
    decode::Pool& pool_;
    const nn::Tokenizer& tokenizer_;
    SampleSettings settings_;
    std::vector<int> stops_;  // tokens with a newline in them
    std::vector<SampleGroup> groups_;
    std::map<decode::Number, Place> places_;  // of requests that are not over
};

/// Where fewest requests are, among the seats with the wanted weights: no token is stale.
class StaticPool final : public decode::Chooser {
  public:
    explicit StaticPool(const decode::Pool& pool) : pool_(pool) {}
    void want(int version) { version_ = version; }
    std::optional<decode::Seat> choose(decode::Number request,
                                       std::span<const decode::Place> places) override;

  private:
    const decode::Pool& pool_;
    int version_ = 1;
};

}  // namespace assay::rl
