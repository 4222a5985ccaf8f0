// Fig. 8 as it is declared: what runs where, and what is said where it cannot.
#include <gtest/gtest.h>

#include <cstdlib>

#include "impls/lte/experiments/experiments.hpp"
#include "impls/tensors/needs.hpp"
#include "suite/base/error.hpp"

namespace assay::lte {
namespace {

TEST(Fig8, SaysWhyItCannotRunWithoutAGpu) {
    setenv("ASSAY_KERNELS_CUDA", "/nonexistent/kernels.so", 1);
    SampleSpec spec;
    spec.variant = "lte";
    spec.profile = Profile::toy;
    EXPECT_EQ(fig8().unsupported(spec), std::nullopt);
    spec.profile = Profile::gpu;
    const auto reason = fig8().unsupported(spec);
    ASSERT_TRUE(reason);
    EXPECT_NE(reason->find("not supported here"), std::string::npos) << *reason;
    unsetenv("ASSAY_KERNELS_CUDA");
}

TEST(Fig8, AtProfileGpuHasTheShapesOfTheClaims) {
    const Experiment experiment = fig8();
    const ProfilePlan* plan = experiment.plan(Profile::gpu);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->axes.at("shape"), (std::vector<Value>{"llama2-7b", "gpt2-medium"}));
}

TEST(Fig8b, HasAProfileForGpusAndSaysWhatIsMissing) {
    const Experiment experiment = fig8b();
    const ProfilePlan* plan = experiment.plan(Profile::gpu);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->axes.at("model"), std::vector<Value>{"llama2-7b"});
    EXPECT_FALSE(plan->axes.contains("length"));
    SampleSpec spec;
    spec.variant = "lte";
    spec.profile = Profile::gpu;
    spec.axes = {{"model", "llama2-7b"}, {"sparsity", 0.5}, {"length", std::int64_t{32}}};
    EXPECT_NO_THROW(experiment.validate(spec));
    spec.axes["model"] = "smollm2-135m";
    EXPECT_THROW(experiment.validate(spec), UserError);
    spec.profile = Profile::toy;
    EXPECT_NO_THROW(experiment.validate(spec));
    spec.profile = Profile::gpu;
    if (const auto reason = experiment.unsupported(spec)) {
        const auto lacks = tensors::lacks(tensors::Needs::tensors);
        EXPECT_NE(reason->find(lacks.value_or("not supported here")), std::string::npos) << *reason;
    }
}

}  // namespace
}  // namespace assay::lte
