// A training that is killed goes on bit for bit.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <sstream>
#include <stdexcept>

#include "impls/nn/training/checkpoint_files.hpp"
#include "impls/nn/training/language_model.hpp"
#include "suite/base/error.hpp"
#include "tests/nn/training/toy_text.hpp"

namespace assay::nn {
namespace {

constexpr std::int64_t steps = 24;

DecoderConfig tiny() {
    DecoderConfig config;
    config.layers = 2;
    config.width = 16;
    config.hidden = 32;
    config.heads = 2;
    config.kv_heads = 1;
    config.head_width = 8;
    config.context = 16;
    return config;
}

LanguageModelTraining settings() {
    LanguageModelTraining training;
    training.options.steps = steps;
    training.options.decay_to_zero = true;
    training.options.clip = 0.5;
    training.sequences = 4;
    training.checkpoint_every = 5;
    return training;
}

struct Outcome {
    std::vector<std::uint64_t> digests;
    std::vector<double> curve;
    bool operator==(const Outcome&) const = default;
};

// A training with objects of its own; `each` may end it.
Outcome run(StateKeeper& keeper, const LanguageModelTraining& training = settings(),
            const LossCurve& each = {}, DecoderConfig config = tiny(),
            const std::string& text = sums(60)) {
    at::set_num_threads(1);
    const auto data = TokenData::from_text(text, Tokenizer::bytes(), 0, config.context);
    Decoder decoder(config, 1);
    DenseFeedForward dense;
    Outcome outcome;
    train_language_model("toy", decoder, dense, data, training, keeper,
                         [&](std::int64_t step, double nll) {
                             EXPECT_EQ(step, static_cast<std::int64_t>(outcome.curve.size()));
                             outcome.curve.push_back(nll);
                             if (each) each(step, nll);
                         });
    for (const auto& block : decoder.blocks()) outcome.digests.push_back(block->digest());
    return outcome;
}

// Keeps states in memory and counts.
struct MemoryState : StateKeeper {
    std::map<std::string, std::string> states;
    int saved = 0;
    void save(const std::string& name, const std::function<void(std::ostream&)>& write) override {
        std::ostringstream out;
        write(out);
        states[name] = out.str();
        ++saved;
    }
    bool load(const std::string& name, const std::function<void(std::istream&)>& read) override {
        if (!states.contains(name)) return false;
        std::istringstream in(states[name]);
        read(in);
        return true;
    }
    std::shared_ptr<void> hold(const std::string&) override { return nullptr; }
};

struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

TEST(Resume, AfterAnInterruptionAtAnyStep) {
    NoState none;
    const auto whole = run(none);
    ASSERT_EQ(whole.curve.size(), static_cast<std::size_t>(steps));
    for (const auto compute : {at::kFloat, at::kBFloat16}) {
        auto training = settings();
        training.compute = compute;
        const auto expected = compute == at::kFloat ? whole : run(none, training);
        for (const std::int64_t last : {0, 4, 5, 11, 22, 23}) {
            MemoryState memory;
            EXPECT_THROW(run(memory, training,
                             [&](std::int64_t step, double) {
                                 if (step == last) throw Interrupted();
                             }),
                         Interrupted);
            EXPECT_EQ(run(memory, training), expected) << "interrupted at step " << last;
        }
    }
}

TEST(Resume, AfterASigkill) {
    NoState none;
    const auto whole = run(none);
    const auto folder =
        std::filesystem::path(testing::TempDir()) / ("assay-resume-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
    // Killed twice: in step 8, and going on from 5, in step 17.
    for (const std::int64_t last : {8, 17}) {
        const auto child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            FolderState state(folder);
            run(state, settings(), [&](std::int64_t step, double) {
                if (step == last) ::raise(SIGKILL);
            });
            ::_exit(1);  // never comes here
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
        ASSERT_TRUE(std::filesystem::exists(folder / "toy.state"));
    }
    FolderState state(folder);
    EXPECT_EQ(run(state), whole);
    // It is done: another call changes nothing and tells the same.
    EXPECT_EQ(run(state), whole);
    std::filesystem::remove_all(folder);
}

TEST(Resume, SavesEverySoManyStepsAndAtTheEnd) {
    MemoryState memory;
    run(memory);
    EXPECT_EQ(memory.saved, 5);  // after 5, 10, 15, 20 and 24
    auto training = settings();
    training.checkpoint_every = 0;
    MemoryState end;
    run(end, training);
    EXPECT_EQ(end.saved, 1);
    training.checkpoint_every = 6;
    MemoryState divides;
    run(divides, training);
    EXPECT_EQ(divides.saved, 4);  // the last only once
}

TEST(Resume, RefusesTheStateOfAnotherText) {
    MemoryState memory;
    const auto text = sums(60);
    EXPECT_THROW(run(memory, settings(),
                     [](std::int64_t step, double) {
                         if (step == 11) throw Interrupted();
                     }),
                 Interrupted);
    auto other = text;
    std::swap(other[0], other[1]);
    try {
        run(memory, settings(), {}, tiny(), other);
        FAIL() << "went on with another text";
    } catch (const UserError& error) {
        const std::string said = error.what();
        EXPECT_NE(said.find("another text"), std::string::npos) << said;
        EXPECT_NE(said.find("remove it"), std::string::npos) << said;
    }
    EXPECT_EQ(run(memory, settings(), {}, tiny(), text).curve.size(), 24u);
}

TEST(Resume, RefusesTheStateOfAnotherTraining) {
    MemoryState memory;
    run(memory);
    auto other = settings();
    other.options.learning_rate *= 2;
    EXPECT_THROW(run(memory, other), UserError);
    other = settings();
    other.seed = 2;
    EXPECT_THROW(run(memory, other), UserError);
    auto config = tiny();
    config.hidden = 40;
    EXPECT_THROW(run(memory, settings(), {}, config), UserError);
    for (const auto& broken : {std::string(), std::string("{}\n"), memory.states["toy"] + "x",
                               memory.states["toy"].substr(0, memory.states["toy"].size() - 1)}) {
        MemoryState damaged;
        damaged.states["toy"] = broken;
        EXPECT_THROW(run(damaged), UserError) << broken.size();

        Decoder decoder(tiny(), 7);
        const auto digests = [&] {
            std::vector<std::uint64_t> found;
            for (const auto& block : decoder.blocks()) found.push_back(block->digest());
            return found;
        };
        const auto before = digests();
        DenseFeedForward dense;
        EXPECT_THROW(train_language_model(
                         "toy", decoder, dense,
                         TokenData::from_text(sums(60), Tokenizer::bytes(), 0, tiny().context),
                         settings(), damaged, {}),
                     UserError);
        EXPECT_EQ(digests(), before) << "a state that is refused leaves the blocks as they were";
    }
}

}  // namespace
}  // namespace assay::nn
