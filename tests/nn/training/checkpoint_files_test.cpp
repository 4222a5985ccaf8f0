#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "impls/nn/training/checkpoint_files.hpp"

namespace assay::nn {
namespace {

struct Folder {
    std::filesystem::path path = std::filesystem::path(testing::TempDir()) /
                                 ("assay-folder-state-" + std::to_string(::getpid()));
    Folder() { std::filesystem::remove_all(path); }
    ~Folder() { std::filesystem::remove_all(path); }
};

void save(FolderState& state, const std::string& content) {
    state.save("a", [&](std::ostream& out) { out << content; });
}

// What was saved; "(nothing)" where there is none.
std::string load(FolderState& state, const std::string& name = "a") {
    std::string content;
    const bool there = state.load(
        name, [&](std::istream& in) { content.assign(std::istreambuf_iterator<char>(in), {}); });
    return there ? content : "(nothing)";
}

TEST(FolderState, KeepsTheNewestOfEachName) {
    Folder folder;
    FolderState state(folder.path / "made" / "when needed");
    EXPECT_EQ(load(state), "(nothing)");
    save(state, "first");
    save(state, "second");
    EXPECT_EQ(load(state), "second");
    EXPECT_EQ(load(state, "b"), "(nothing)");
    FolderState again(folder.path / "made" / "when needed");
    EXPECT_EQ(load(again), "second");
}

TEST(FolderState, OneMakesWhatOthersWaitFor) {
    const Folder folder;
    FolderState mine(folder.path);
    auto held = mine.hold("a");
    const pid_t other = ::fork();
    if (other == 0) {  // finds what is made while it waits
        held.reset();  // the lock is of whoever has this descriptor, also by fork()
        FolderState theirs(folder.path);
        const auto turn = theirs.hold("a");
        ::_exit(turn && load(theirs) == "made once" ? 0 : 1);
    }
    EXPECT_NE(mine.hold("b"), nullptr) << "another name is nobody's";
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    save(mine, "made once");
    held.reset();
    int status = 1;
    ASSERT_EQ(::waitpid(other, &status, 0), other);
    EXPECT_EQ(status, 0);
}

TEST(FolderState, WhereThereIsNoLockNobodyWaits) {
    EXPECT_EQ(FolderState("/proc/no such folder").hold("a"), nullptr);
}

TEST(FolderState, SizesAroundItsPieces) {
    Folder folder;
    FolderState state(folder.path);
    for (const std::size_t size : {0u, 1u, (1u << 20) - 1, 1u << 20, (1u << 20) + 1, 3u << 20}) {
        std::string content(size, '\0');
        for (std::size_t i = 0; i < size; ++i)
            content[i] = static_cast<char>(i * 2654435761u >> 13);
        save(state, content);
        EXPECT_TRUE(load(state) == content) << size;
    }
}

TEST(FolderState, ATornOrAlteredFileIsNotThere) {
    Folder folder;
    FolderState state(folder.path);
    const std::string content(5000, 'x');
    save(state, content);
    const auto file = folder.path / "a.state";
    std::ifstream in(file, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    const auto with = [&](const std::string& other) {
        std::ofstream(file, std::ios::binary | std::ios::trunc) << other;
        return load(state);
    };
    for (std::size_t kept = 0; kept < bytes.size(); kept += kept < 4990 ? 499 : 1)
        EXPECT_EQ(with(bytes.substr(0, kept)), "(nothing)") << kept;
    for (std::size_t flipped : {std::size_t{0}, std::size_t{2500}, bytes.size() - 1}) {
        auto other = bytes;
        other[flipped] ^= 1;
        EXPECT_EQ(with(other), "(nothing)") << flipped;
    }
    EXPECT_EQ(with(bytes + "y"), "(nothing)");
    EXPECT_EQ(with(bytes), content);
}

TEST(FolderState, AWriterThatFailsLeavesTheOldState) {
    Folder folder;
    FolderState state(folder.path);
    save(state, "good");
    EXPECT_THROW(state.save("a",
                            [](std::ostream& out) {
                                out << std::string(3 << 20, 'x');
                                throw std::runtime_error("in the middle");
                            }),
                 std::runtime_error);
    EXPECT_EQ(load(state), "good");
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path))
        ++files;
    EXPECT_EQ(files, 1u);  // nothing left aside
}

std::size_t lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(FolderState, AFileInPlaceOfTheFolderIsToldOnceAndEndsNothing) {
    Folder folder;
    std::ofstream(folder.path) << "not a folder";
    FolderState state(folder.path);
    testing::internal::CaptureStderr();
    EXPECT_NO_THROW(save(state, "first"));
    EXPECT_NO_THROW(save(state, "second"));
    const auto said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(lines(said), 1u) << said;
    EXPECT_NE(said.find(folder.path.string()), std::string::npos) << said;
    EXPECT_EQ(load(state), "(nothing)");
}

TEST(FolderState, ANameThatIsTooLongIsToldAndLeavesNoFile) {
    Folder folder;
    FolderState state(folder.path);
    const std::string name(300, 'n');
    testing::internal::CaptureStderr();
    EXPECT_NO_THROW(state.save(name, [](std::ostream& out) { out << "x"; }));
    EXPECT_EQ(lines(testing::internal::GetCapturedStderr()), 1u);
    EXPECT_EQ(load(state, name), "(nothing)");
    EXPECT_TRUE(std::filesystem::is_empty(folder.path));
    save(state, "good");
    EXPECT_EQ(load(state), "good");
}

// A limit on the size of files fails in the middle of a state, as a full disk does.
TEST(FolderState, AFullDiskLeavesTheOldStateAndNothingAside) {
    Folder folder;
    FolderState state(folder.path);
    save(state, "old");
    const auto signal = ::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{1 << 20, before.rlim_max};
    testing::internal::CaptureStderr();
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_NO_THROW(save(state, std::string(5 << 20, 'x')));
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ::signal(SIGXFSZ, signal);
    EXPECT_EQ(lines(testing::internal::GetCapturedStderr()), 1u);
    EXPECT_EQ(load(state), "old");
    EXPECT_FALSE(std::filesystem::exists(folder.path / "a.state.part"));
}

}  // namespace
}  // namespace assay::nn
