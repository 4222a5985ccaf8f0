// NCCL and CUDA themselves: one rank on one GPU. Skipped where there is none.
#include <gtest/gtest.h>

#include <vector>

#include "suite/cluster/nccl/nccl.hpp"

namespace assay::cluster {
namespace {

class NcclOnAGpu : public testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = nccl_missing(); !why.empty()) GTEST_SKIP() << why;
        cuda_ = nccl::find_cuda_runtime().runtime;
        context_ = std::make_unique<NcclContext>(make_local_rendezvous(), NcclOptions{});
        group_ = context_->make_device_group("one", 0, 1);
    }
    void TearDown() override {
        for (void* memory : memory_) cuda_->release(memory);
    }
    float* put(const std::vector<float>& values) {
        void* memory = nullptr;
        EXPECT_EQ(cuda_->allocate(&memory, values.size() * sizeof(float)), nccl::cuda_success);
        memory_.push_back(memory);
        EXPECT_EQ(cuda_->copy(memory, values.data(), values.size() * sizeof(float),
                              nccl::copy_between_any, group_->stream()),
                  nccl::cuda_success);
        group_->wait();
        return static_cast<float*>(memory);
    }
    std::vector<float> get(const float* from, std::size_t count) {
        std::vector<float> values(count);
        EXPECT_EQ(cuda_->copy(values.data(), from, count * sizeof(float), nccl::copy_between_any,
                              group_->stream()),
                  nccl::cuda_success);
        group_->wait();
        return values;
    }

    std::shared_ptr<const nccl::CudaRuntime> cuda_;
    std::unique_ptr<NcclContext> context_;
    std::unique_ptr<DeviceCommunicator> group_;
    std::vector<void*> memory_;
};

std::vector<float> numbers(std::size_t count) {
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(0.5f * static_cast<float>(i));
    return values;
}

TEST_F(NcclOnAGpu, EveryOperationOfOneRankGivesWhatItWasGiven) {
    const std::vector<float> given = numbers(100000);
    float* const from = put(given);
    float* const to = put(std::vector<float>(given.size(), -1.0f));
    const std::vector<std::int64_t> all{static_cast<std::int64_t>(given.size())};
    group_->all_to_all_v(from, all, to, all, Dtype::f32);
    EXPECT_EQ(get(to, given.size()), given);
    group_->all_reduce_sum(to, given.size(), Dtype::f32);
    group_->broadcast(to, given.size(), Dtype::f32, 0);
    EXPECT_EQ(get(to, given.size()), given);
    float* const gathered = put(std::vector<float>(given.size(), -1.0f));
    group_->all_gather(to, given.size(), gathered, Dtype::f32);
    group_->barrier();
    EXPECT_EQ(get(gathered, given.size()), given);
}

TEST_F(NcclOnAGpu, PackedAndDeferredSumsGiveWhatTheyWereGiven) {
    const std::vector<std::size_t> sizes{3, 1000, 400000, 17};
    std::vector<DeviceBuffer> buffers;
    for (const std::size_t size : sizes) buffers.push_back({put(numbers(size)), size});
    group_->set_deferred(true);
    for (int round = 0; round < 10; ++round) group_->all_reduce_sum_each(buffers, Dtype::f32);
    group_->wait();
    for (const DeviceBuffer& buffer : buffers)
        EXPECT_EQ(get(static_cast<float*>(buffer.data), buffer.count), numbers(buffer.count));
}

TEST_F(NcclOnAGpu, AnAbortEndsTheGroupAndTheNextOneWorks) {
    group_->abort("enough");
    EXPECT_THROW(group_->barrier(), CommunicatorBroken);
    const auto again = group_->shrink(std::vector<int>{0}, "again");
    again->barrier();
    EXPECT_EQ(again->size(), 1);
}

}  // namespace
}  // namespace assay::cluster
