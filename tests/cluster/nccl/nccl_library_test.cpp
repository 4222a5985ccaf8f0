// Which NCCL is found, and what is said of one that is not right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "suite/base/error.hpp"
#include "suite/cluster/collectives/group_maker.hpp"
#include "suite/cluster/worker_groups.hpp"
#include "tests/cluster/collectives/run_ranks.hpp"
#include "tests/cluster/nccl/fake.hpp"

namespace assay::cluster {
namespace {

using nccl::open_library;
using testing::HasSubstr;

class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
    ~Variable() { ::unsetenv(name_); }

  private:
    const char* name_;
};

TEST(NcclLibrary, ReadsVersionsOfBothForms) {
    EXPECT_EQ(nccl::version_text(22703), "2.27.3");
    EXPECT_EQ(nccl::version_text(2708), "2.7.8");
    EXPECT_EQ(nccl::version_text(21005), "2.10.5");
}

TEST(NcclLibrary, SaysWhatAVersionLacks) {
    const auto right = open_library(FAKE_NCCL_RIGHT);
    ASSERT_TRUE(right.library) << right.why_not;
    EXPECT_EQ(right.library->version, 22703);
    EXPECT_NE(right.library->shrink, nullptr);
    EXPECT_THAT(nccl::describe(right), testing::StartsWith("NCCL 2.27.3 ("));
    EXPECT_THAT(nccl::describe(right), testing::EndsWith(")"));

    const auto no_shrink = open_library(FAKE_NCCL_NO_SHRINK);
    ASSERT_TRUE(no_shrink.library) << no_shrink.why_not;
    EXPECT_THAT(nccl::describe(no_shrink), HasSubstr("connected anew (shrink: 2.27)"));
}

TEST(NcclLibrary, RefusesWhatIsTooOldOrIncompleteOrSomethingElse) {
    EXPECT_THAT(open_library(FAKE_NCCL_ANCIENT).why_not,
                HasSubstr("is NCCL 2.4.8; 2.14.0 or newer"));
    EXPECT_THAT(open_library(FAKE_NCCL_OLD).why_not,
                HasSubstr("is NCCL 2.13.4; 2.14.0 or newer is needed, since an abort"));
    EXPECT_THAT(open_library(FAKE_NCCL_NO_SEND).why_not,
                HasSubstr("(NCCL 2.27.3) has no ncclSend"));
    EXPECT_THAT(open_library("libc.so.6").why_not, HasSubstr("is no NCCL"));
    EXPECT_THAT(open_library("/nowhere/libnccl.so.2").why_not, HasSubstr("/nowhere"));
    EXPECT_THAT(nccl::open_cuda_runtime("libc.so.6").why_not,
                HasSubstr("has no cudaGetDeviceCount"));
}

TEST(NcclLibrary, TakesTheFileThatIsNamed) {
    const Variable nccl("ASSAY_NCCL", FAKE_NCCL_RIGHT), cudart("ASSAY_CUDART", FAKE_NCCL_RIGHT);
    EXPECT_EQ(nccl_missing(), "");
    const FakeNccl fake;
    fake.set("no_driver");
    EXPECT_THAT(nccl_missing(), HasSubstr("no usable GPU: CUDA driver version is insufficient"));
    fake.set("no_driver", 0);
    const Variable wrong("ASSAY_NCCL", "/nowhere/libnccl.so.2");
    EXPECT_THAT(nccl_missing(), HasSubstr("(named by ASSAY_NCCL)"));
    EXPECT_THROW(NcclContext(make_local_rendezvous(), {}), NotSupportedHere);
}

// A worker's groups are the same over NCCL; what lies on a device is not looked into.
TEST(NcclLibrary, WorkersHaveTheirGroupsOverNccl) {
    const FakeNccl fake;
    const std::shared_ptr<Rendezvous> rendezvous = make_local_rendezvous();
    run_ranks(2, [&](int rank) {
        auto faults = std::make_shared<LinkFaults>(rank + 5, 1);
        WorkerGroups groups(rank + 5,
                            std::make_unique<NcclContext>(rendezvous, NcclOptions{}, fake.parts),
                            Seconds(20), faults);
        const auto group = groups.connect("g", {5, 6});
        faults->corrupt_next_message();
        std::int64_t value = rank == 0 ? 7 : 0;
        group->broadcast(&value, 1, Dtype::i64, 0);
        EXPECT_EQ(value, 7);
        groups.abort({"g"}, 6);
        EXPECT_THROW(group->barrier(), CommunicatorBroken);
    });
    fake.expect_clean();
}

}  // namespace
}  // namespace assay::cluster
