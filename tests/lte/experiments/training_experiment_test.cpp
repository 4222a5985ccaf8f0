// What a training reads of samples that leave axes out.
#include "impls/lte/experiments/training_experiment.hpp"

#include <gtest/gtest.h>

#include "suite/base/error.hpp"

namespace assay::lte {
namespace {

Training read(const Axes<Training>& axes, Case named) {
    return axes.read({.axes = std::move(named)});
}

TEST(TrainingAxes, StepsThatAreNotNamedAreThoseOfTheModel) {
    const auto axes = steps_axis("of both stages", 300);
    const Training unnamed = read(axes, {}), named = read(axes, {{"steps", std::int64_t{300}}});
    EXPECT_EQ(axes.declared().front().values, std::vector<Value>{std::int64_t{300}});
    EXPECT_EQ(sizes_of(unnamed).stage1_steps, 200);
    EXPECT_EQ(sizes_of(unnamed).stage2_steps, 100);
    EXPECT_EQ(sizes_of(named).stage1_steps, 180);
    EXPECT_EQ(sizes_of(named).stage2_steps, 120);
}

TEST(TrainingAxes, SamplesOlderThanTheRecipeHaveNone) {
    const auto axes = recipe_axis();
    EXPECT_EQ(read(axes, {}).recipe, std::nullopt);
    EXPECT_EQ(read(axes, {{"recipe", "fast"}}).recipe, Recipe::fast);
    EXPECT_EQ(read(axes, {{"recipe", "as_is"}}).recipe, Recipe::as_is);
}

TEST(TrainingAxes, PatternsThatRemoveHalfAreAskedForThat) {
    Axes<Training> axes = training_axes({"gpt-tiny"});
    axes.part(sparsity_axis({0.5}));
    for (const Competitor competitor : {Competitor::wanda_2_4, Competitor::magnitude_4_8}) {
        axes.given(&Training::competitor, [competitor](const SampleSpec&) { return competitor; });
        EXPECT_NO_THROW(read(axes, {{"sparsity", 0.5}}));
        EXPECT_THROW(read(axes, {{"sparsity", 0.75}}), UserError);
    }
}

}  // namespace
}  // namespace assay::lte
