// Rivals, tunings, equal time and natural text: what each makes of a step's rows.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "impls/dr_post_training/recipes/fine_tuning.hpp"
#include "impls/dr_post_training/recipes/less.hpp"
#include "impls/dr_post_training/recipes/rivals.hpp"
#include "impls/dr_post_training/recipes/text_rows.hpp"
#include "impls/rl/recipes/update.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"
#include "tests/dr_post_training/recipes/tiny_sample.hpp"

namespace assay::dr_post_training {
namespace {

const bool one_thread = (at::set_num_threads(1), true);

struct Tiny {
    explicit Tiny(const Case& more = {})
        : settings(sft_settings(tiny_sample("full", more))),
          base([&] {
              nn::NoState none;
              return base_model(settings, 3, none, {});
          }()),
          rows(settings, 3) {}
    SftSettings settings;
    nn::Decoder base;
    SftRows rows;
};

std::vector<at::Tensor> gradients_of(const std::vector<nn::TrainedBlock>& blocks,
                                     TrainingStep& step) {
    for (const auto& [block, factor] : blocks) block->zero_grad();
    step.backward();
    std::vector<at::Tensor> found;
    for (const auto& [block, factor] : blocks) found.push_back(block->grad().clone());
    return found;
}

double product(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] * b[i]).sum().item<double>();
    return sum;
}

// Where both directions agree it is the target's; else nothing of it opposes the general rows.
TEST(AGem, IsTheTargetsDirectionWithoutWhatOpposesTheMean) {
    const Tiny tiny;
    // One token is asked for, and another one answered: a model that has seen both leans to
    // neither, and each pushes the other down.
    const auto ended = [](nn::ScoredRow row) {
        while (row.scored_tokens() > 1) {
            row.tokens.pop_back();
            row.scored.pop_back();
        }
        return row;
    };
    const SftRows rows(
        tiny.settings, 3,
        {[](std::uint64_t) { return SftRows::Row{}; },
         [&](Use use, std::uint64_t number) { return ended(scored(target_row(use, 3, number))); }});
    Trainee trainee("a_gem", tiny.settings, 1e-3, rows, tiny.base, 3);
    const auto blocks = trainee.tuning->blocks();
    const StepModel model{trainee.decoder, at::kFloat, LossMean::token, {}};
    const SftRows::General right{rows.given(), {}};
    SftRows::General wrong = right;
    for (auto& row : wrong.rows) row.tokens.back() = '#';
    auto both = right.rows;
    both.insert(both.end(), wrong.rows.begin(), wrong.rows.end());
    rl::Updater updater(blocks, 1, {3e-3, 0.9, 0.999, 1e-8});
    while (updater.updates() < 100) updater.update([&] { plain_step(model, both)->backward(); });
    for (const bool opposed : {false, true}) {
        const auto& general = opposed ? wrong : right;
        const auto c = gradients_of(blocks, *plain_step(model, general.rows));
        const auto v = gradients_of(blocks, *plain_step(model, rows.target(2)));
        const auto found = gradients_of(blocks, *trainee.arm->step(2, general));
        const double along = product(v, c), scale = std::sqrt(product(v, v) * product(c, c));
        ASSERT_EQ(along < 0, opposed);
        const double factor = opposed ? -along / product(c, c) : 0;
        for (std::size_t i = 0; i < found.size(); ++i)
            EXPECT_LT((found[i] - v[i] - factor * c[i]).abs().max().item<double>(),
                      1e-4 * v[i].abs().max().item<double>() + 1e-7);
        EXPECT_GT(product(found, c), -1e-4 * scale);
    }
}

// What is kept is what autograd on single rows says does not oppose the given rows.
TEST(Iif, KeepsRowsThatDoNotOpposeTheGivenOnes) {
    const Tiny tiny(Case{{"steps", std::int64_t{3}}});
    Trainee trainee("iif", tiny.settings, 1e-3, tiny.rows, tiny.base, 3);
    const auto blocks = trainee.tuning->blocks();
    const StepModel each{trainee.decoder, at::kFloat, LossMean::example, {}};
    const auto maps_only = [&](std::vector<at::Tensor> gradients) {
        for (std::size_t block = 0; block < gradients.size(); ++block) {
            if (block == 0) gradients[0].zero_();
            const auto& names = layer_parameters(trainee.decoder.config());
            for (std::size_t i = 0; block > 0 && i < names.size(); ++i) {
                if (names[i].shape.size() == 2) continue;
                const auto& own = *blocks[block].block;
                gradients[block]
                    .narrow(0, own[i].storage_offset() - own[0].storage_offset(), own[i].numel())
                    .zero_();
            }
        }
        return gradients;
    };
    const auto target = maps_only(gradients_of(blocks, *plain_step(each, tiny.rows.given())));
    int dropped = 0;
    for (std::int64_t number = 0; number < 3; ++number) {
        const auto general = tiny.rows.general(number);
        for (const auto& [block, factor] : blocks) block->zero_grad();
        const auto step = trainee.arm->step(number, general);
        for (const auto& [block, factor] : blocks)  // judging leaves nothing
            EXPECT_EQ(block->grad().abs().max().item<double>(), 0);
        const auto& decision = trainee.arm->decisions()->at("all");
        std::vector<nn::ScoredRow> kept;
        for (std::size_t b = 0; b < general.rows.size(); ++b) {
            const auto alone =
                maps_only(gradients_of(blocks, *plain_step(each, {general.rows[b]})));
            const double expected = product(alone, target);
            EXPECT_NEAR(decision.statistics.target.scores[b], expected,
                        1e-3 * std::sqrt(product(alone, alone) * product(target, target)));
            if (decision.update.weights[b] > 0) kept.push_back(general.rows[b]);
            EXPECT_EQ(decision.update.weights[b] > 0, decision.statistics.target.scores[b] >= 0);
            dropped += decision.update.weights[b] == 0;
        }
        const StepModel mean{trainee.decoder, at::kFloat, LossMean::token, {}};
        const auto found = gradients_of(blocks, *step);
        const auto expected = gradients_of(blocks, *plain_step(mean, kept));
        for (std::size_t i = 0; i < found.size(); ++i)
            EXPECT_TRUE(at::allclose(found[i], expected[i], 1e-4, 1e-7));
    }
    EXPECT_GT(dropped, 0);
}

// Adapters drop inputs in training; who is kept does not hang on that.
TEST(Iif, JudgesWithoutDropout) {
    const Tiny tiny(Case{{"tuning", "lora"}});
    const auto scores_at = [&](std::int64_t drawn) {
        Trainee trainee("iif", tiny.settings, 1e-3, tiny.rows, tiny.base, 3);
        trainee.tuning->begin(drawn);
        trainee.arm->step(0, tiny.rows.general(0));
        return trainee.arm->decisions()->at("all").statistics.target.scores;
    };
    const auto scores = scores_at(0);
    EXPECT_EQ(scores, scores_at(5));
    EXPECT_NE(scores, std::vector<double>(scores.size()));
}

TEST(Less, FollowsAdamsNextStep) {
    nn::ParameterBlock block("test", std::vector<nn::ParameterSpec>{{"one", {3}, 0, 0}}, at::kFloat,
                             1);
    const auto set = [](at::Tensor& where, std::vector<float> values) {
        const at::NoGradGuard no_grad;
        where.copy_(at::tensor(values));
    };
    set(block.first_moment(), {0.1F, -0.2F, 0});
    set(block.second_moment(), {0.01F, 0.04F, 0.09F});
    set(block.grad(), {1, 0.5F, -1});
    const nn::AdamOptions adam{1e-3, 0.9, 0.99, 1e-8};
    const auto target = at::tensor(std::vector<float>{1, 2, 3});
    double along = 0, step2 = 0;
    const double m0[] = {0.1, -0.2, 0}, v0[] = {0.01, 0.04, 0.09}, g[] = {1, 0.5, -1},
                 of[] = {1, 2, 3};
    for (int i = 0; i < 3; ++i) {
        const double m = (0.9 * m0[i] + 0.1 * g[i]) / (1 - std::pow(0.9, 4));
        const double v = (0.99 * v0[i] + 0.01 * g[i] * g[i]) / (1 - std::pow(0.99, 4));
        const double step = m / (std::sqrt(v) + 1e-8);
        along += step * of[i];
        step2 += step * step;
    }
    EXPECT_NEAR(adam_cosine({&block}, {target}, 4, adam), along / std::sqrt(step2 * 14), 1e-6);
    // The very step that Adam makes.
    const auto before = block.values().clone();
    adam_update(block, 4, adam);
    const auto moved = before - block.values();
    EXPECT_NEAR(
        (moved * target).sum().item<double>() / std::sqrt(moved.square().sum().item<double>() * 14),
        along / std::sqrt(step2 * 14), 1e-4);
    set(block.grad(), {0, 0, 0});
    block.zero_moments();
    EXPECT_EQ(adam_cosine({&block}, {target}, 1, adam), 0);
}

// Rows of the target's task, answered rightly, are worth more than others to a model that can
// learn.
TEST(Less, ChoosesAheadAndTrainsOnNothingElse) {
    const Tiny tiny(Case{{"steps", std::int64_t{40}}});
    const auto chosen = prepare("less", tiny.settings, tiny.rows, tiny.base, 3);
    EXPECT_EQ(chosen.rows.size(), 16U);  // a twentieth of 320
    EXPECT_GT(chosen.seconds, 0);
    EXPECT_LE(chosen.related + chosen.contrary, 1);
    EXPECT_GT(chosen.related + chosen.contrary, 0.6);  // half of the pool are of that form
    EXPECT_TRUE(prepare("layer", tiny.settings, tiny.rows, tiny.base, 3).rows.empty());
    const auto again = prepare("less", tiny.settings, tiny.rows, tiny.base, 3);
    ASSERT_EQ(again.rows.size(), chosen.rows.size());
    for (std::size_t i = 0; i < chosen.rows.size(); ++i)
        EXPECT_EQ(again.rows[i].tokens, chosen.rows[i].tokens);
    Trainee trainee("less", tiny.settings, 1e-3, tiny.rows, tiny.base, 3, chosen);
    const auto general = tiny.rows.general(1);
    const StepModel model{trainee.decoder, at::kFloat, LossMean::token, {}};
    EXPECT_NEAR(trainee.arm->step(1, general)->loss(),
                plain_step(model, {chosen.rows.begin() + 8, chosen.rows.end()})->loss(), 1e-6);
    EXPECT_THROW(Trainee("less", tiny.settings, 1e-3, tiny.rows, tiny.base, 3),
                 std::invalid_argument);
    EXPECT_THROW(make_arm("a_gem", tiny.settings, tiny.base, tiny.rows, 3, 1e-3),
                 std::invalid_argument);
}

// At the rate of the training the second-order term is small against the first, so that greedy
// chooses as top-k does but for near ties; with a step that belongs to a mean it does not.
TEST(Greats, IsNearlyGlobalAtTheRateOfTheTraining) {
    const Tiny tiny(Case{{"steps", std::int64_t{20}}});
    const auto agreement = [&](double eta) {
        Trainee greats("greats", tiny.settings, eta, tiny.rows, tiny.base, 3);
        Trainee global("global", tiny.settings, eta, tiny.rows, tiny.base, 3);
        double common = 0;
        for (std::int64_t number = 0; number < 20; ++number) {
            const auto general = tiny.rows.general(number);
            std::vector<std::set<std::size_t>> kept;
            for (Trainee* trainee : {&greats, &global}) {
                for (const auto& [block, factor] : trainee->tuning->blocks()) block->zero_grad();
                trainee->arm->step(number, general)->backward();
                const auto& selected = *trainee->arm->decisions()->at("all").update.selected;
                kept.emplace_back(selected.begin(), selected.end());
            }
            for (const auto row : kept[0]) common += static_cast<double>(kept[1].count(row));
        }
        return common / 80;
    };
    EXPECT_GT(agreement(1e-3), 0.97);
    EXPECT_LT(agreement(1e3), 0.97);
}

TEST(Tunings, EveryArmOfThePaperTrainsUnderEach) {
    for (const char* tuning : {"lora", "meso"})
        for (const char* arm : {"full", "global", "layer", "target", "iif", "less", "a_gem"}) {
            MemoryRecorder recorder;
            run(tiny_sample(arm, {{"tuning", tuning}, {"steps", std::int64_t{4}}}), recorder);
            EXPECT_TRUE(std::isfinite(recorder.value("perplexity"))) << tuning << arm;
            EXPECT_NE(recorder.value("perplexity"), recorder.value("perplexity_at_start"))
                << tuning << arm;
            // In the time of four plain steps; less what choosing ahead has taken.
            const double over_plain = recorder.value("step_over_plain");
            EXPECT_GT(over_plain, 0);
            const double in_time = std::clamp(4 / over_plain, 0.0, 16.0);
            if (arm != std::string_view("less")) {
                EXPECT_NEAR(recorder.value("steps_equal_time"), in_time, 0.5 + 1e-9) << arm;
            } else {
                EXPECT_LE(recorder.value("steps_equal_time"), in_time + 0.5);
                const Tiny tiny(Case{{"tuning", tuning}, {"steps", std::int64_t{4}}});
                const auto chosen = prepare(arm, tiny.settings, tiny.rows, tiny.base, 3);
                EXPECT_EQ(recorder.value("kept_related"), chosen.related) << "of the rows it chose";
                EXPECT_GT(chosen.related, tiny.settings.pool.relevance)
                    << "more than among all rows";
            }
        }
    // Ten times the rates for adapters; nothing else differs.
    const auto lora =
        sft_settings(tiny_sample("full", {{"model", "llama-toy"}, {"tuning", "lora"}})).rates;
    const auto full = sft_settings(tiny_sample("full", {{"model", "llama-toy"}})).rates;
    ASSERT_EQ(lora.size(), full.size());
    for (std::size_t i = 0; i < full.size(); ++i) EXPECT_DOUBLE_EQ(lora[i], 10 * full[i]);
}

// Adapters at first, and a model of subspaces at first, are the model.
TEST(Tunings, StartAsTheBase) {
    for (const char* tuning : {"full", "lora", "meso"}) {
        const Tiny tiny(Case{{"tuning", tuning}});
        const auto tuned = fine_tune(tiny.settings, "layer", 1e-3, tiny.rows, tiny.base, 3, {});
        nn::Maps plain;
        EXPECT_NEAR(tuned.test_nll.front(),
                    nn::evaluate_rows(tiny.base, plain, tiny.rows.test()).nll_nats_per_token, 1e-5)
            << tuning;
        EXPECT_NE(tuned.test_nll.front(), tuned.test_nll.back());
    }
}

TEST(EqualTime, GivesTheStepsOfPlainTrainingsTime) {
    SftSettings settings;
    settings.steps = 100;
    const StepRatio twice{.turns = 10, .arm_s = 4, .plain_s = 2};  // 0.4 s and 0.2 s a step
    EXPECT_EQ(steps_in_equal_time(settings, twice, 0), 50);
    EXPECT_EQ(steps_in_equal_time(settings, twice, 4), 40);  // 16 s are left
    EXPECT_EQ(steps_in_equal_time(settings, twice, 30), 0);  // none are
    EXPECT_EQ(steps_in_equal_time(settings, {.turns = 10, .arm_s = 0.1, .plain_s = 2}, 0), 400);
    EXPECT_DOUBLE_EQ(twice.over_plain(), 2);
    const Tiny tiny;
    const auto ratio = step_ratio(tiny.settings, "layer", 1e-3, tiny.rows, tiny.base, 3, {}, 4);
    EXPECT_EQ(ratio.turns, 4);
    EXPECT_GT(ratio.arm_s, 0);
    EXPECT_GT(ratio.plain_s, 0);
}

TEST(RunSft, RecordsEqualTimeOnlyWhereItIsAsked) {
    MemoryRecorder recorder;
    run(tiny_sample("full"), recorder);
    EXPECT_EQ(recorder.value("perplexity_equal_time"), recorder.value("perplexity"));
    EXPECT_EQ(recorder.value("steps_equal_time"), 8);
    MemoryRecorder other;
    auto tuning = tiny_sample("full");
    tuning.besides = {};
    run(tuning, other);
    for (const auto& metric : other.metrics) EXPECT_NE(metric.name, "perplexity_equal_time");
}

/// Keeps a state in memory, and fails after so many steps.
class Interrupted : public nn::StateKeeper {
  public:
    void save(const std::string&, const std::function<void(std::ostream&)>& write) override {
        std::ostringstream out;
        write(out);
        kept_ = out.str();
    }
    bool load(const std::string&, const std::function<void(std::istream&)>& read) override {
        if (kept_.empty()) return false;
        std::istringstream in(kept_);
        read(in);
        return true;
    }
    std::shared_ptr<void> hold(const std::string&) override { return nullptr; }

  private:
    std::string kept_;
};

TEST(FineTuning, GoesOnFromACheckpointAsIfNothingHadBeen) {
    for (const char* tuning : {"full", "lora"}) {
        Tiny tiny(Case{{"tuning", tuning}});
        tiny.settings.checkpoint_every = 2;
        tiny.settings.evaluations = 4;
        const auto whole = fine_tune(tiny.settings, "layer", 1e-3, tiny.rows, tiny.base, 3, {});
        Interrupted states;
        struct Stop {};
        const auto until_five = [](std::int64_t step, double) {
            if (step == 4) throw Stop();
        };
        EXPECT_THROW(fine_tune(tiny.settings, "layer", 1e-3, tiny.rows, tiny.base, 3, until_five,
                               {.prepared = {}, .states = &states}),
                     Stop);
        std::vector<std::int64_t> seen;
        const auto resumed = fine_tune(tiny.settings, "layer", 1e-3, tiny.rows, tiny.base, 3,
                                       [&](std::int64_t step, double) { seen.push_back(step); },
                                       {.prepared = {}, .states = &states});
        EXPECT_EQ(seen, (std::vector<std::int64_t>{4, 5, 6, 7})) << tuning;
        EXPECT_EQ(resumed.test_nll, whole.test_nll) << tuning;
        EXPECT_EQ(resumed.at_step, whole.at_step);
        EXPECT_EQ(resumed.loss, whole.loss);
        EXPECT_EQ(resumed.selections.rows, whole.selections.rows);
        EXPECT_EQ(resumed.selections.kept_related(), whole.selections.kept_related());
        EXPECT_EQ(resumed.validation.nll_nats_per_token, whole.validation.nll_nats_per_token);
        // Once more, from the end.
        const auto after = fine_tune(tiny.settings, "layer", 1e-3, tiny.rows, tiny.base, 3, {},
                                     {.prepared = {}, .states = &states});
        EXPECT_EQ(after.test.nll_nats_per_token, whole.test.nll_nats_per_token);
    }
}

constexpr const char* dictionary =
    "00-database-info\n   The dictionary speaks of itself, at length, and says nothing.\n\n"
    "alpha%%%first letter\nof some alphabets\n\n   <letter> The first of the letters that Greeks\n"
    "   wrote.  Long ago.\n\nBeta \\Be*ta\\, n. [Gr.]\n   Too short.\n\n"
    "gamma, a\n   A letter that has come third ever since they were written.\n";

TEST(TextRows, ReadDictionariesAndVerses) {
    const auto found = parse_definitions(dictionary, "here", 2);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(
        found[0],
        (Definition{"alpha", "<letter> The first of the letters that Greeks wrote.  Long ago."}));
    EXPECT_EQ(found[1].word, "gamma");
    EXPECT_EQ(parse_verses("one two\nIn the beginning was the word and more\n", "here", 1),
              std::vector<std::string>{"In the beginning was the word and more"});
    for (const char* bad : {"", "\n\n", "   an indented line that belongs to nothing at all here\n",
                            "word\nword\nword", "\xff\xfe\x00"}) {
        try {
            parse_definitions(bad, "dict.txt", 1);
            ADD_FAILURE() << bad;
        } catch (const UserError& error) {
            EXPECT_THAT(error.what(), testing::StartsWith("dict.txt: 0 definitions"));
        }
        EXPECT_THROW(parse_verses(bad[0] == ' ' ? "" : bad, "verses.txt", 1), UserError);
    }
}

TEST(TextRows, HaveTheSharesTheyAreAskedForAndUsesOfTheirOwn) {
    std::vector<Definition> words, target;
    for (int i = 0; i < 40; ++i) {
        words.push_back({"w" + std::to_string(i), "text of w" + std::to_string(i)});
        target.push_back({"t" + std::to_string(i), "text of t" + std::to_string(i)});
    }
    const TextRows rows(words, {"a b c d e f g h"}, target, 5);
    std::map<Kind, int> kinds;
    for (std::uint64_t number = 0; number < 2000; ++number) {
        const auto row = rows.general_row({.relevance = 0.2, .noise = 0.3}, number);
        ++kinds[row.kind];
        if (row.kind == Kind::other) {
            EXPECT_EQ(row.prompt, "Continue: a b c d\n");
            EXPECT_EQ(row.answer, "e f g h");
        } else if (row.kind == Kind::related) {
            EXPECT_EQ("Define: " + row.answer.substr(8) + "\n", row.prompt);
        }
    }
    EXPECT_NEAR(kinds[Kind::related] / 2000.0, 0.2, 0.03);
    EXPECT_NEAR(kinds[Kind::contrary] / 2000.0, 0.3, 0.03);
    std::set<std::string> seen;
    for (const Use use : {Use::given, Use::validation, Use::test})
        for (std::uint64_t number = 0; number < 10; ++number)
            EXPECT_TRUE(seen.insert(rows.target_row(use, number).prompt).second);
    // Rows neither repeat nor meet those of another use: past the last there is none.
    for (const Use use : {Use::given, Use::validation, Use::test})
        EXPECT_THROW(rows.target_row(use, 10), UserError);
    const TextRows odd(words, {"a b c d e f g h"}, {target.begin(), target.begin() + 6}, 5);
    EXPECT_NO_THROW(odd.target_row(Use::given, 1));
    EXPECT_THROW(odd.target_row(Use::test, 1), UserError);
    // Another seed, another order.
    const TextRows others(words, {"a b c d e f g h"}, target, 6);
    EXPECT_NE(others.target_row(Use::given, 0).prompt + others.target_row(Use::given, 1).prompt,
              rows.target_row(Use::given, 0).prompt + rows.target_row(Use::given, 1).prompt);
}

TEST(TextRows, EndWhereARowIsFull) {
    const auto bytes = nn::Tokenizer::bytes();
    const auto row = cut_row({"ask ", std::string(100, 'x'), Kind::other}, bytes);
    EXPECT_EQ(row.tokens.size(), text_row_tokens);
    EXPECT_EQ(row.scored_tokens(), text_row_tokens - 4);
    const auto long_prompt = cut_row({std::string(100, 'q'), "yes", Kind::other}, bytes);
    EXPECT_EQ(long_prompt.scored_tokens(), 1U);
    EXPECT_EQ(cut_row({"a", "b", Kind::other}, bytes).tokens.size(), 2U);
}

TEST(Settings, TakeARateAsTheCommandLineGivesIt) {
    EXPECT_EQ(sft_settings(tiny_sample("full", {{"rate", "0.003"}})).rates, std::vector{0.003});
    for (const char* bad : {"", "0.1x", "nan", "1", "-1", "grids"})
        EXPECT_THROW(tiny_sample("full", {{"rate", bad}}), UserError) << bad;
}

TEST(Settings, ThePublishedFactorIsOfMergedBatches) {
    EXPECT_THROW(tiny_sample("layer", {{"target", "cached"}, {"similarity", "as_published"}}),
                 UserError);
}

TEST(Settings, SmolLm2IsTunedByAdapters) {
    const auto settings =
        sft_settings(tiny_sample("layer", {{"model", "smollm2"}, {"tuning", "lora"}}));
    EXPECT_TRUE(settings.pretrained());
    EXPECT_EQ(settings.rates.size(), 1U);
    EXPECT_GT(settings.checkpoint_every, 0);
    for (const char* tuning : {"full", "meso"})
        EXPECT_THROW(tiny_sample("layer", {{"model", "smollm2"}, {"tuning", tuning}}), UserError)
            << tuning;
}

}  // namespace
}  // namespace assay::dr_post_training
