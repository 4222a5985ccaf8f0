// Parts of a GPU by green contexts; skipped where there is none.
#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "kernels/cuda/harness/gpu_test.hpp"
#include "kernels/cuda/harness/multiprocessors_used.hpp"
#include "kernels/reference/device_calls_test.hpp"

namespace assay::kernels::cuda {
namespace {

using harness::multiprocessors_used;
using testing::Each;
using testing::Ge;
using testing::Le;
using testing::SizeIs;

class CudaDivisionOfADevice : public harness::GpuTest {
  protected:
    void TearDown() override {
        if (division) kernels->reunite(context.get(), division);
    }
    AssayStatus divide(std::vector<AssayPart>& parts) {
        return kernels->divide(context.get(), parts.data(), int(parts.size()), &division);
    }

    AssayDivision* division = nullptr;
};

TEST_F(CudaDivisionOfADevice, PartsShareNoMultiprocessor) {
    for (const auto& [first, second] : {std::pair(40, 32), {56, 8}, {12, 10}}) {
        std::vector<AssayPart> parts{{first, nullptr}, {second, nullptr}};
        const AssayStatus status = divide(parts);
        if (status == ASSAY_UNSUPPORTED) GTEST_SKIP() << kernels->last_error(context.get());
        ASSERT_EQ(status, ASSAY_OK) << kernels->last_error(context.get());
        EXPECT_GE(parts[0].multiprocessors, first);
        EXPECT_GE(parts[1].multiprocessors, second);
        const std::set<int> one = multiprocessors_used(parts[0].stream);
        const std::set<int> other = multiprocessors_used(parts[1].stream);
        // The kernel fills what it may use.
        EXPECT_THAT(one, SizeIs(parts[0].multiprocessors));
        EXPECT_THAT(other, SizeIs(parts[1].multiprocessors));
        std::vector<int> both;
        std::set_intersection(one.begin(), one.end(), other.begin(), other.end(),
                              std::back_inserter(both));
        EXPECT_THAT(both, SizeIs(0));
        kernels->reunite(context.get(), division);
        division = nullptr;
    }
}

TEST_F(CudaDivisionOfADevice, KernelsOfAContextRunOnItsPart) {
    std::vector<AssayPart> parts{{16, nullptr}};
    const AssayStatus status = divide(parts);
    if (status == ASSAY_UNSUPPORTED) GTEST_SKIP() << kernels->last_error(context.get());
    ASSERT_EQ(status, ASSAY_OK) << kernels->last_error(context.get());
    const reference::Context own = reference::make_context(kernels, 0, parts[0].stream);
    ASSERT_TRUE(own);
    reference::expect_reads_and_times(*kernels, own.get());
}

TEST_F(CudaDivisionOfADevice, RefusesMoreThanThereIs) {
    std::vector<AssayPart> parts{{100000, nullptr}};
    EXPECT_EQ(divide(parts), ASSAY_UNSUPPORTED);
    EXPECT_EQ(division, nullptr);
    EXPECT_EQ(kernels->divide(context.get(), nullptr, 0, &division), ASSAY_BAD_ARGUMENT);
}

}  // namespace
}  // namespace assay::kernels::cuda
