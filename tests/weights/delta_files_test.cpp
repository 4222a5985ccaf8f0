// Deltas between files: what is written, and that nothing is left where something is wrong.
#include "impls/weights/delta_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "impls/weights/aside_file.hpp"
#include "suite/base/error.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/weights/weights_files.hpp"

namespace assay::weights {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class WeightsDeltaFiles : public ::testing::Test {
  protected:
    DeltaSize diff(const Raw& before, const Raw& after) {
        write_raw(old_, before);
        write_raw(new_, after);
        return write_delta(WeightsFile(old_), WeightsFile(new_), delta_);
    }
    std::string diff_refusal(const Raw& before, const Raw& after) {
        try {
            diff(before, after);
        } catch (const UserError& error) {
            EXPECT_THAT(names_in(folder_.path()), ElementsAre("new", "old"));
            return error.what();
        }
        return {};
    }
    Raw update(const Raw& before, const Raw& delta) {
        write_raw(old_, before);
        write_raw(delta_, delta);
        write_updated(WeightsFile(old_), delta_, updated_);
        return read_raw(updated_);
    }

    assay::testing::TemporaryFolder folder_;
    const fs::path old_ = folder_ / "old", new_ = folder_ / "new", delta_ = folder_ / "delta",
                   updated_ = folder_ / "updated";
    std::mt19937_64 random_{5};
};

TEST_F(WeightsDeltaFiles, ThereAndBack) {
    for (const double share : {0.0, 0.02, 1.0})
        for (std::size_t spaces = 0; spaces < 3; ++spaces) {
            const Tensors before = random_tensors(random_);
            const Tensors after = changed_at_random(before, share, random_);
            const NaiveDelta expected = naive_delta(version_of(before), version_of(after));
            const DeltaSize size = diff(file_of(before, spaces), file_of(after));
            EXPECT_EQ(size, (DeltaSize{.elements = 641,
                                       .changed = expected.offsets.size(),
                                       .bytes = 16 + 6 * expected.offsets.size()}));
            EXPECT_EQ(read_raw(delta_), expected.bytes()) << "offsets count by name";
            EXPECT_EQ(write_updated(WeightsFile(old_), delta_, updated_), size);
            EXPECT_EQ(read_raw(updated_), file_of(after, spaces)) << "the header is that of old";
            EXPECT_EQ(digest_of(WeightsFile(updated_)), digest_of(WeightsFile(new_)));
            EXPECT_EQ(digest_of(WeightsFile(updated_)), digest_of(raw(version_of(after))));
            EXPECT_THAT(names_in(folder_.path()), ElementsAre("delta", "new", "old", "updated"));
        }
}

/// The same version, its tensors in another order.
TEST_F(WeightsDeltaFiles, TensorsMayLieAnywhere) {
    const Tensors before = random_tensors(random_);
    Tensors after = changed_at_random(before, 0.1, random_);
    const Raw expected = file_of(after);
    std::ranges::reverse(after);
    diff(file_of(before), file_of(after));
    EXPECT_EQ(read_raw(delta_), naive_delta(version_of(before), version_of(after)).bytes());
    write_updated(WeightsFile(old_), delta_, updated_);
    EXPECT_EQ(read_raw(updated_), expected);
}

TEST_F(WeightsDeltaFiles, TensorsLongerThanAPiece) {
    constexpr std::int64_t rows = 700'001;
    const Tensors before{{"b", {rows}, random_elements(rows, random_)},
                         {"a", {3}, random_elements(3, random_)}};
    const Tensors after = changed_at_random(before, 0.6, random_);
    const DeltaSize size = diff(file_of(before, 1), file_of(after));
    EXPECT_EQ(size.changed, naive_delta(version_of(before), version_of(after)).offsets.size());
    EXPECT_TRUE(read_raw(delta_) == naive_delta(version_of(before), version_of(after)).bytes());
    write_updated(WeightsFile(old_), delta_, updated_);
    EXPECT_TRUE(read_raw(updated_) == file_of(after, 1));
    EXPECT_EQ(digest_of(WeightsFile(updated_)), digest_of(raw(version_of(after))));
}

TEST_F(WeightsDeltaFiles, FilesWithoutElements) {
    const Raw none = nn::safetensors_bytes("{}", {});
    EXPECT_EQ(diff(none, none), (DeltaSize{.elements = 0, .changed = 0, .bytes = 16}));
    write_updated(WeightsFile(old_), delta_, updated_);
    EXPECT_EQ(read_raw(updated_), none);
}

TEST_F(WeightsDeltaFiles, TakesOffsetsOf64Bits) {
    const Tensors before = random_tensors(random_);
    const Tensors after = changed_at_random(before, 0.1, random_);
    EXPECT_EQ(
        update(file_of(before), naive_delta(version_of(before), version_of(after), true).bytes()),
        file_of(after));
}

TEST_F(WeightsDeltaFiles, RefusesOtherLayouts) {
    const Tensors tensors{{"a", {2, 3}, Elements(6)}, {"b", {2}, Elements(2)}};
    const Raw good = file_of(tensors);
    const auto against = [&](const Tensors& other) { return diff_refusal(good, file_of(other)); };
    Tensors other = tensors;
    other[0].shape = {3, 2};
    EXPECT_THAT(against(other),
                AllOf(HasSubstr("new: unlike in "),
                      HasSubstr("old, tensor \"a\" has the shape [3, 2], not [2, 3]; a delta is")));
    other = tensors;
    other[1].name = "c";
    EXPECT_THAT(against(other), HasSubstr("tensor \"b\" is missing"));
    EXPECT_THAT(diff_refusal(file_of(other), good), HasSubstr("one tensor more, \"b\""));
    other = tensors;
    other.push_back({"c", {1}, {0}});
    EXPECT_THAT(against(other), HasSubstr("one tensor more, \"c\""));

    for (const auto& [type, bytes] : std::vector<std::pair<std::string, std::size_t>>{
             {"F32", 4}, {"F16", 2}, {"I64", 8}, {"U16", 2}, {"BOOL", 1}, {"F8_E4M3", 1}}) {
        nn::SafetensorsWriter writer;
        writer.tensor("a", {2, 3}, "BF16", Raw(12)).tensor("b", {2}, type, Raw(2 * bytes));
        for (const std::string& error :
             {diff_refusal(good, writer.bytes()), diff_refusal(writer.bytes(), good),
              diff_refusal(writer.bytes(), writer.bytes())})
            EXPECT_THAT(error,
                        AllOf(HasSubstr("tensor \"b\""), HasSubstr(type), HasSubstr("BF16")));
    }
    EXPECT_THAT(diff_refusal(good, Raw(100)), HasSubstr("not a safetensors file"));
    for (std::size_t size = 0; size < good.size(); ++size)
        EXPECT_NE(diff_refusal(good, {good.begin(), good.begin() + static_cast<int>(size)}), "");
}

/// An output of that name stays as it is.
TEST_F(WeightsDeltaFiles, ABadDeltaLeavesNothing) {
    const Tensors before = random_tensors(random_);
    const Raw good =
        naive_delta(version_of(before), version_of(changed_at_random(before, 0.02, random_)))
            .bytes();
    const Raw present{std::byte{1}, std::byte{2}};
    const auto refuses = [&](const Raw& delta, const char* part) {
        for (const bool there : {false, true}) {
            if (there) write_raw(updated_, present);
            EXPECT_THAT([&] { update(file_of(before), delta); },
                        ThrowsMessage<UserError>(HasSubstr(part)));
            if (there) {
                EXPECT_EQ(read_raw(updated_), present);
            }
            EXPECT_EQ(names_in(folder_.path()).size(), there ? 3U : 2U) << part;
            fs::remove(updated_);
        }
    };
    for (std::size_t size = 0; size < good.size(); ++size)
        refuses({good.begin(), good.begin() + static_cast<int>(size)}, "cut off");
    Raw longer = good;
    longer.emplace_back();
    refuses(longer, "cut off or damaged");
    for (const auto& [at, byte] : {std::pair{8, 3}, {10, 4}, {12, 1}}) {
        Raw damaged = good;
        damaged[static_cast<std::size_t>(at)] = static_cast<std::byte>(byte);
        refuses(damaged, "delta: ");
    }
    refuses(NaiveDelta{.offsets = {5, 640, 639}, .values = {1, 2, 3}}.bytes(), "offsets ascend");
    refuses(NaiveDelta{.offsets = {5, 5}, .values = {1, 2}}.bytes(), "offsets ascend");
    refuses(NaiveDelta{.offsets = {5, 641}, .values = {1, 2}}.bytes(), "element 641 changed");
    update(file_of(before), good);
    EXPECT_EQ(names_in(folder_.path()).size(), 3U);
}

TEST_F(WeightsDeltaFiles, FilesThatBecomeShorter) {
    const Tensors tensors = random_tensors(random_);
    const Raw bytes = file_of(tensors);
    write_raw(old_, bytes);
    write_raw(new_, bytes);
    const WeightsFile before(old_), after(new_);
    fs::resize_file(new_, bytes.size() - 1);
    const auto shorter = ThrowsMessage<UserError>(HasSubstr("became shorter while it was read"));
    EXPECT_THAT([&] { write_delta(before, after, delta_); }, shorter);
    EXPECT_THAT([&] { digest_of(after); }, shorter);
    write_raw(delta_, NaiveDelta().bytes());
    EXPECT_THAT([&] { write_updated(after, delta_, updated_); }, shorter);
    EXPECT_THAT(names_in(folder_.path()), ElementsAre("delta", "new", "old"));
}

/// The file that is read may be the one that is replaced.
TEST_F(WeightsDeltaFiles, InItsOwnPlace) {
    const Tensors before = random_tensors(random_);
    const Tensors after = changed_at_random(before, 0.1, random_);
    diff(file_of(before), file_of(after));
    fs::create_symlink("old", folder_ / "link");
    write_updated(WeightsFile(folder_ / "link"), delta_, folder_ / "link");
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(read_raw(old_), file_of(after));
}

TEST_F(WeightsDeltaFiles, OutputsAppearWholeOrNotAtAll) {
    const Raw bytes{std::byte{1}, std::byte{2}, std::byte{3}};
    {
        AsideFile file(new_);
        file.write(1, bytes);
    }
    EXPECT_TRUE(fs::is_empty(folder_.path()));
    {
        AsideFile file(new_);
        file.write(1, bytes);
        EXPECT_FALSE(fs::exists(new_));
        file.write(0, std::span(bytes).last(1));
        file.publish();
    }
    EXPECT_EQ(read_raw(new_), (Raw{bytes[2], bytes[0], bytes[1], bytes[2]}));
    EXPECT_THAT(names_in(folder_.path()), ElementsAre("new"));
    EXPECT_THAT([&] { AsideFile(folder_ / "absent/new"); },
                ThrowsMessage<UserError>(HasSubstr("mkdir -p")));
    EXPECT_THAT([&] { AsideFile(folder_.path()); },
                ThrowsMessage<UserError>(HasSubstr("no regular file")));
    ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    EXPECT_THAT([&] { AsideFile(folder_ / "pipe"); },
                ThrowsMessage<UserError>(HasSubstr("no regular file")));
}

}  // namespace
}  // namespace assay::weights
