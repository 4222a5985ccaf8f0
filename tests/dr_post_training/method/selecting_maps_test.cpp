// Scores and updates against what autograd makes of single rows.
#include "impls/dr_post_training/method/selecting_maps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/dr_post_training/method/small_rows.hpp"

namespace assay::dr_post_training {
namespace {

constexpr double close = 1e-4;

std::string of_layer(const nn::Place& place) {
    return std::to_string(place.layer) + "/" + std::string(place.name);
}
std::string of_all(const nn::Place&) { return "all"; }
std::string of_block(const nn::Place& place) { return std::to_string(place.layer); }

/// The k rows of largest score, as a token mean has them.
Choose top(std::size_t k, const std::vector<double>& shares) {
    return [k, shares](const std::string&, const GroupStatistics& seen) {
        std::vector<std::size_t> order(seen.target.scores.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return shares[a] * seen.target.scores[a] > shares[b] * seen.target.scores[b];
        });
        Update update{{}, std::vector<double>(seen.target.scores.size()), 0};
        double sum = 0;
        for (std::size_t i = 0; i < k; ++i) sum += shares[order[i]];
        for (std::size_t i = 0; i < k; ++i) update.weights[order[i]] = shares[order[i]] / sum;
        return update;
    };
}

struct Case {
    nn::DecoderConfig config;
    nn::Decoder decoder;
    std::vector<nn::ScoredRow> general, target;
    std::vector<double> shares;
    StepModel model;

    explicit Case(const nn::DecoderConfig& of)
        : config(of),
          decoder(small_decoder(of)),
          general(small_rows(5, 1)),
          target(small_rows(2, 9)),
          shares(shares_of(nn::batch_of(general).scored_tokens, LossMean::token)),
          model{decoder, at::kFloat, LossMean::token, {}} {}

    std::vector<at::Tensor> plain(const std::vector<nn::ScoredRow>& rows,
                                  LossMean mean = LossMean::token) {
        StepModel with = model;
        with.mean = mean;
        return gradients_of(decoder, [&] { plain_step(with, rows)->backward(); });
    }
    std::vector<at::Tensor> selecting(SelectingMaps& maps, Schedule schedule = Schedule::one_pass,
                                      bool head = false) {
        return gradients_of(decoder, [&] {
            selecting_step(model, maps, schedule, general, target, head)->backward();
        });
    }
    /// Which elements of a block belong to maps that choose.
    at::Tensor chosen_elements(std::size_t block) const {
        std::vector<at::Tensor> parts;
        const auto names = block == 0 ? shared_parameters(config) : layer_parameters(config);
        for (std::size_t i = 0; i < names.size(); ++i) {
            const auto& leaf = (*decoder.blocks()[block])[i];
            const bool norm = names[i].name.find("norm") != std::string::npos;
            parts.push_back(at::full({leaf.numel()}, block > 0 && !norm, at::kBool));
        }
        return at::cat(parts);
    }
};

nn::DecoderConfig gpt2_with_own_output() {
    auto config = nn::small_gpt2();
    config.tied_embeddings = false;
    return config;
}

SelectingOptions options_with(Scoring backend, std::string (*group)(const nn::Place&),
                              Choose choose) {
    SelectingOptions options;
    options.backend = backend;
    options.compressed_outputs = options.compressed_inputs = 1 << 10;
    options.group_of = group;
    options.choose = std::move(choose);
    return options;
}

void expect_scores_are_autograds(const nn::DecoderConfig& config) {
    Case here(config);
    // g_b and v by themselves.
    std::vector<std::vector<at::Tensor>> rows;
    for (const auto& row : here.general) rows.push_back(here.plain({row}));
    const auto target = here.plain(here.target, LossMean::example);
    std::vector<double> expected(rows.size());
    std::vector<double> gram(rows.size() * rows.size());
    double norm2 = 0;
    for (std::size_t block = 0; block < target.size(); ++block) {
        const auto where = here.chosen_elements(block);
        const auto of = [&](const std::vector<at::Tensor>& gradients) {
            return gradients[block].masked_select(where).to(at::kDouble);
        };
        norm2 += of(target).square().sum().item<double>();
        for (std::size_t b = 0; b < rows.size(); ++b) {
            expected[b] += (of(rows[b]) * of(target)).sum().item<double>();
            for (std::size_t c = 0; c < rows.size(); ++c)
                gram[b * rows.size() + c] += (of(rows[b]) * of(rows[c])).sum().item<double>();
        }
    }
    for (const auto backend : {Scoring::direct, Scoring::gip, Scoring::pip}) {
        auto options = options_with(backend, of_all, top(2, here.shares));
        options.gram = true;
        SelectingMaps maps(options);
        here.selecting(maps);
        ASSERT_EQ(maps.decisions().size(), 1U);
        const auto& seen = maps.decisions().at("all").statistics;
        const double largest =
            std::abs(*std::max_element(expected.begin(), expected.end(), [](double a, double b) {
                return std::abs(a) < std::abs(b);
            }));
        const auto& ranks_by = maps.decisions().at("all").ranks_by;
        for (std::size_t b = 0; b < expected.size(); ++b) {
            EXPECT_NEAR(seen.target.scores[b], expected[b], close * largest) << to_string(backend);
            const double weight = here.shares[b] * static_cast<double>(expected.size());
            EXPECT_NEAR(ranks_by[b], weight * expected[b], close * largest);
        }
        for (std::size_t i = 0; i < gram.size(); ++i)
            EXPECT_NEAR(seen.gram.values[i], gram[i], close * gram[0]);
        EXPECT_NEAR(*seen.target.norm2, norm2, close * norm2);
    }
}

TEST(SelectingMaps, ScoresOfAllBackendsAreAutogradsOnSingleRows) {
    expect_scores_are_autograds(nn::small_llama());
}

TEST(SelectingMaps, ScoresHaveTheBiases) { expect_scores_are_autograds(gpt2_with_own_output()); }

// Every group's update is autograd's on the rows it chose, whatever the partition and the backend.
void expect_updates_are_autograds(const nn::DecoderConfig& config,
                                  std::string (*group)(const nn::Place&), Scoring backend) {
    Case here(config);
    SelectingMaps maps(options_with(backend, group, top(2, here.shares)));
    const auto found = here.selecting(maps);
    std::size_t different = 0;
    double largest = 0;
    for (const auto& gradients : found)
        largest = std::max(largest, gradients.abs().max().item<double>());
    for (int layer = 0; layer < config.layers; ++layer) {
        for (const auto& [name, shape] : layer_parameters(config)) {
            const std::string full = "layer" + std::to_string(layer) + "/" + name;
            if (name.find("norm") != std::string::npos) continue;
            auto matrix = name;
            if (matrix.ends_with("_bias")) matrix.resize(matrix.size() - 5);
            const auto& weights = maps.decisions().at(group({layer, matrix})).update.weights;
            std::vector<nn::ScoredRow> subset;
            for (std::size_t b = 0; b < weights.size(); ++b)
                if (weights[b] > 0) subset.push_back(here.general[b]);
            ASSERT_EQ(subset.size(), 2U);
            here.plain(subset);
            const auto expected = here.decoder.parameter(full).grad().clone();
            here.selecting(maps);
            const auto& selected = here.decoder.parameter(full).grad();
            // Against the whole model's largest: a bias of keys has no gradient but rounding.
            EXPECT_LT((selected - expected).abs().max().item<double>(), close * largest) << full;
            here.plain(here.general);
            if ((here.decoder.parameter(full).grad() - expected).abs().max().item<double>() >
                close * largest)
                ++different;
        }
    }
    EXPECT_GT(different, 0U);  // else choosing would show nowhere
}

TEST(SelectingMaps, UpdatesAreAutogradsOnTheChosenRows) {
    for (auto* group : {of_layer, of_block, of_all})
        expect_updates_are_autograds(nn::small_llama(), group, Scoring::pip);
    expect_updates_are_autograds(nn::small_llama(), of_layer, Scoring::direct);
    expect_updates_are_autograds(nn::small_llama(), of_all, Scoring::direct);
    expect_updates_are_autograds(gpt2_with_own_output(), of_layer, Scoring::gip);
    expect_updates_are_autograds(nn::small_gpt2(), of_layer, Scoring::direct);
}

// Norms, embeddings and a head that does not choose learn as if there were no target rows, biases
// of maps as the maps do.
void expect_no_target_elsewhere(const nn::DecoderConfig& config) {
    Case here(config);
    SelectingMaps maps(options_with(Scoring::pip, of_layer, top(2, here.shares)));
    const auto found = here.selecting(maps);
    const auto expected = here.plain(here.general);
    for (std::size_t block = 0; block < found.size(); ++block) {
        const auto rest = here.chosen_elements(block).logical_not();
        const auto a = found[block].masked_select(rest), b = expected[block].masked_select(rest);
        EXPECT_LT((a - b).abs().max().item<double>(), close * b.abs().max().item<double>());
        EXPECT_GT(b.abs().max().item<double>(), 0);
    }
    // All rows chosen: the whole step is a plain one.
    SelectingMaps all(options_with(Scoring::pip, of_layer, top(5, here.shares)));
    EXPECT_LT(relative_difference(here.selecting(all), expected), close);
}

TEST(SelectingMaps, TargetRowsLeaveNoGradientElsewhere) {
    expect_no_target_elsewhere(nn::small_llama());
    expect_no_target_elsewhere(nn::small_gpt2());
    expect_no_target_elsewhere(gpt2_with_own_output());
}

TEST(SelectingMaps, TwoPassesGiveWhatOneGives) {
    for (const bool head : {false, true}) {
        Case here(nn::small_llama());
        auto options = options_with(Scoring::pip, of_all, top(2, here.shares));
        options.head_chooses = head;
        SelectingMaps one(options);
        options.assemble = false;
        SelectingMaps two(options);
        const auto once = here.selecting(one, Schedule::one_pass, head);
        const auto twice = here.selecting(two, Schedule::two_pass, head);
        EXPECT_LT(relative_difference(twice, once), close);
        EXPECT_EQ(one.decisions().at("all").update.weights,
                  two.decisions().at("all").update.weights);
    }
}

TEST(SelectingMaps, AnUpdateMayWeighRowsAndTheTarget) {
    Case here(nn::small_llama());
    auto options = options_with(Scoring::pip, of_layer, [](const auto&, const auto&) {
        return Update{{}, {0.25, 0, -1, 0.5, 2}, 3};
    });
    options.target_weights = true;
    SelectingMaps maps(options);
    const auto found = here.selecting(maps);
    std::vector<std::vector<at::Tensor>> rows;
    for (const auto& row : here.general) rows.push_back(here.plain({row}));
    const auto target = here.plain(here.target, LossMean::example);
    const std::vector<double> weights{0.25, 0, -1, 0.5, 2};
    for (std::size_t block = 1; block < found.size(); ++block) {
        auto expected = 3 * target[block];
        for (std::size_t b = 0; b < weights.size(); ++b) expected += weights[b] * rows[b][block];
        const auto where = here.chosen_elements(block);
        const auto a = found[block].masked_select(where), b = expected.masked_select(where);
        EXPECT_LT((a - b).abs().max().item<double>(), close * b.abs().max().item<double>());
    }
}

TEST(SelectingMaps, AnEmptyChoiceLeavesNoGradient) {
    Case here(nn::small_llama());
    SelectingMaps maps(options_with(Scoring::pip, of_layer, [](const auto&, const auto&) {
        return Update{{}, std::vector<double>(5), 0};
    }));
    const auto found = here.selecting(maps);
    for (std::size_t block = 1; block < found.size(); ++block)
        EXPECT_EQ(
            found[block].masked_select(here.chosen_elements(block)).abs().max().item<double>(), 0);
}

// More dimensions than there are make a rotation, nearly; fewer keep the order of clear scores.
TEST(SelectingMaps, CompressedScoresApproachTheExact) {
    Case here(nn::small_llama());
    SelectingMaps exact(options_with(Scoring::pip, of_all, top(2, here.shares)));
    here.selecting(exact);
    const auto& expected = exact.decisions().at("all").statistics.target.scores;
    double mean_error = 0, largest = 0;
    std::vector<double> mean(expected.size());
    constexpr int draws = 200;
    for (int draw = 0; draw < draws; ++draw) {
        auto options = options_with(Scoring::compressed, of_all, top(2, here.shares));
        options.compression_seed = static_cast<std::uint64_t>(draw);
        SelectingMaps maps(options);
        here.selecting(maps);
        const auto& scores = maps.decisions().at("all").statistics.target.scores;
        for (std::size_t b = 0; b < mean.size(); ++b) mean[b] += scores[b] / draws;
    }
    for (std::size_t b = 0; b < mean.size(); ++b) {
        mean_error = std::max(mean_error, std::abs(mean[b] - expected[b]));
        largest = std::max(largest, std::abs(expected[b]));
    }
    EXPECT_LT(mean_error, 0.2 * largest);  // the mean over draws is the score itself
}

}  // namespace
}  // namespace assay::dr_post_training
