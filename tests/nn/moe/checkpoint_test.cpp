// A checkpoint comes back bit for bit, and a damaged one is never taken for a whole one.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <set>
#include <string>

#include "impls/nn/moe/checkpoint.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::nn {
namespace {

const BlockKey expert{1, 2};

class CheckpointTest : public ::testing::Test {
  protected:
    CheckpointTest() : folder_(own_.path() / "all") {}

    MoeState trained() {
        MoeState state(model_, 1);
        state.make_initial(expert).grad().fill_(0.25);
        state.update(0, {});
        return state;
    }
    std::filesystem::path file() { return checkpoint_folder(folder_, 7) / "layer1-expert2.state"; }
    std::string bytes() {
        std::ifstream in(file(), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void put(const std::string& bytes) { std::ofstream(file(), std::ios::binary) << bytes; }

    testing::TemporaryFolder own_;
    const MoeGptConfig model_{
        .layers = 2, .width = 8, .heads = 2, .experts = 4, .hidden = 16, .context = 8};
    std::filesystem::path folder_;
};

TEST_F(CheckpointTest, ComesBackBitForBit) {
    auto writer = trained();
    write_checkpoint(folder_, 7, writer, {expert});
    MoeState reader(model_, 1);
    read_checkpoint(folder_, 7, reader, {expert});
    EXPECT_EQ(reader.digests(), writer.digests());
}

TEST_F(CheckpointTest, StepZeroIsTheInitialStateAndNeedsNoFile) {
    MoeState reader(model_, 1), fresh(model_, 1);
    read_checkpoint(folder_, 0, reader, {expert, dense_key});
    fresh.make_initial(expert);
    fresh.make_initial(dense_key);
    EXPECT_EQ(reader.digests(), fresh.digests());
}

TEST_F(CheckpointTest, MissingOrOfAnotherStepIsRefused) {
    auto writer = trained();
    MoeState reader(model_, 1);
    EXPECT_THROW(read_checkpoint(folder_, 7, reader, {expert}), CheckpointError);
    write_checkpoint(folder_, 7, writer, {expert});
    std::filesystem::rename(checkpoint_folder(folder_, 7), checkpoint_folder(folder_, 8));
    EXPECT_THROW(read_checkpoint(folder_, 8, reader, {expert}), CheckpointError);
}

TEST_F(CheckpointTest, AnyDamageIsNoticed) {
    auto writer = trained();
    write_checkpoint(folder_, 7, writer, {expert});
    const auto whole = bytes();
    MoeState reader(model_, 1);
    std::mt19937 random(1);
    for (int i = 0; i < 300; ++i) {
        auto damaged = whole;
        const auto at = random() % damaged.size();
        switch (i % 3) {
            case 0:
                damaged.resize(at);  // torn
                break;
            case 1:
                damaged[at] =
                    static_cast<char>(damaged[at] ^ (1 << random() % 8));  // a bit flipped
                break;
            default:
                damaged.insert(at, 1, static_cast<char>(random()));
        }
        put(damaged);
        EXPECT_THROW(read_checkpoint(folder_, 7, reader, {expert}), CheckpointError)
            << "damage " << i << " at byte " << at;
    }
}

TEST_F(CheckpointTest, ATornFileIsReportedByNobodyAndFoundByTheReader) {
    auto writer = trained();
    writer.make_initial(dense_key);
    EXPECT_NO_THROW(
        write_checkpoint(folder_, 7, writer, {dense_key, expert}, CheckpointDamage::torn));
    MoeState reader(model_, 1);
    EXPECT_NO_THROW(read_checkpoint(folder_, 7, reader, {dense_key}));
    EXPECT_THROW(read_checkpoint(folder_, 7, reader, {expert}), CheckpointError);
}

TEST_F(CheckpointTest, AFullDiskIsToldAndLeavesWhatWasThere) {
    auto writer = trained();
    EXPECT_THROW(write_checkpoint(folder_, 7, writer, {expert}, CheckpointDamage::no_space),
                 CheckpointError);
    EXPECT_TRUE(std::filesystem::is_empty(checkpoint_folder(folder_, 7)));
    write_checkpoint(folder_, 7, writer, {expert});
    const auto whole = bytes();
    try {
        write_checkpoint(folder_, 7, writer, {expert}, CheckpointDamage::no_space);
        FAIL() << "nothing was thrown";
    } catch (const CheckpointError& error) {
        EXPECT_NE(std::string(error.what()).find("No space left on device"), std::string::npos)
            << error.what();
    }
    EXPECT_EQ(bytes(), whole);
}

TEST_F(CheckpointTest, DamagedStateIsNotWritten) {
    auto writer = trained();
    writer.flip_bit_of_state(3);
    EXPECT_THROW(write_checkpoint(folder_, 7, writer, {expert}), CheckpointError);
}

TEST_F(CheckpointTest, WhatWasReadIsSealed) {
    auto writer = trained();
    write_checkpoint(folder_, 7, writer, {expert});
    MoeState reader(model_, 1);
    read_checkpoint(folder_, 7, reader, {expert});
    EXPECT_FALSE(reader.corrupted_block());
}

TEST_F(CheckpointTest, RetentionKeepsTheNewestTwoThatAreWhole) {
    auto writer = trained();
    CheckpointRetention retention(folder_);
    const auto on_disk = [&] {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder_))
            names.insert(entry.path().filename());
        return names;
    };
    using Names = std::set<std::string>;
    const auto write = [&](std::int64_t step, std::set<int> reports) {
        retention.ordered(step, {1, 2});
        write_checkpoint(folder_, step, writer, {expert});
        for (const auto worker : reports) retention.written(step, worker);
    };
    write(10, {1, 2});
    write(20, {1});  // never whole
    EXPECT_EQ(on_disk(), (Names{"step-10", "step-20"}));
    write(30, {1, 2});
    EXPECT_EQ(on_disk(), (Names{"step-10", "step-20", "step-30"}));
    write(40, {1, 2});
    EXPECT_EQ(on_disk(), (Names{"step-30", "step-40"}));
    retention.written(10, 1);  // a late report changes nothing
    EXPECT_EQ(on_disk(), (Names{"step-30", "step-40"}));
}

}  // namespace
}  // namespace assay::nn
