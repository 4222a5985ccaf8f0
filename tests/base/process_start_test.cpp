// How a program is found and started, and what it is given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "suite/base/process.hpp"
#include "tests/base/shell.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay {
namespace {

using assay::testing::open_descriptors;
using assay::testing::printed_by;
using assay::testing::shell;
using assay::testing::TemporaryFolder;
using ::testing::HasSubstr;

TEST(Process, AMissingProgramIsAnErrorThatNamesIt) {
    const auto error_of = [](const std::string& program) {
        try {
            ProcessCommand command;
            command.arguments = {program};
            Process::spawn(command);
        } catch (const CannotStart& error) {
            EXPECT_THAT(error.what(), HasSubstr(program + " cannot be started: "));
            return error.code().value();
        }
        return 0;
    };
    EXPECT_EQ(error_of("/nowhere/at-all"), ENOENT);
    EXPECT_EQ(error_of("no-program-is-called-this"), ENOENT);
    const TemporaryFolder folder;
    std::ofstream(folder / "text") << "no program";
    EXPECT_EQ(error_of((folder / "text").string()), EACCES);
    ProcessCommand lost = shell("exit 0");
    lost.folder = folder / "missing";
    EXPECT_THROW(Process::spawn(lost), CannotStart);
}

/// Writes a program, or a file that is none.
void put(const std::filesystem::path& file, const std::string& text, bool executable = true) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    if (executable) std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

TEST(Process, WhatMayNotBeExecutedDoesNotHideALaterOneInThePath) {
    const TemporaryFolder folder;
    put(folder / "first/tool", "#!/bin/sh\necho first\n", false);
    std::filesystem::create_directories(folder / "second/tool");
    put(folder / "third/tool", "#!/bin/sh\necho third\n");
    const auto path_of = [&](const std::vector<const char*>& parts) {
        std::string path = "/nowhere";
        for (const char* part : parts) path += ":" + (folder / part).string();
        return path + ":" + ::getenv("PATH");
    };
    ProcessCommand command;
    command.arguments = {"tool"};
    {
        const assay::testing::EnvironmentVariable path("PATH",
                                                       path_of({"first", "second", "third"}));
        EXPECT_EQ(printed_by(command), "third\n");
    }
    const assay::testing::EnvironmentVariable path("PATH", path_of({"first", "second"}));
    try {
        Process::spawn(command);
        FAIL() << "it was started";
    } catch (const CannotStart& error) {
        EXPECT_EQ(error.code().value(), EACCES) << "there is one; not: there is none";
    }
}

TEST(Process, AScriptSaysWhatRunsIt) {
    const TemporaryFolder folder;
    put(folder / "with", "#!/bin/sh\necho runs\n");
    put(folder / "without", "echo runs\n");
    ProcessCommand command;
    command.arguments = {(folder / "with").string()};
    EXPECT_EQ(printed_by(command), "runs\n");
    command.arguments = {(folder / "without").string()};
    try {
        Process::spawn(command);
        FAIL() << "it was started";
    } catch (const CannotStart& error) {
        EXPECT_EQ(error.code().value(), ENOEXEC);
        EXPECT_THAT(error.what(), HasSubstr("begins with a line like #!/bin/sh"));
    }
}

TEST(Process, IsCalledAsTold) {
    ProcessCommand command = shell("echo $0");
    command.arguments = {"a name", "-c", "echo $0"};
    command.program = "/bin/sh";
    EXPECT_EQ(printed_by(command), "a name\n");
}

TEST(Process, EnvironmentAndFolderAreItsOwn) {
    const TemporaryFolder folder;
    const assay::testing::EnvironmentVariable ours("ASSAY_TEST_OURS", "ours");
    const assay::testing::EnvironmentVariable replaced("ASSAY_TEST_REPLACED", "old");
    ProcessCommand command = shell(
        "echo $ASSAY_TEST_OURS $ASSAY_TEST_REPLACED $ASSAY_TEST_NEW "
        "${ASSAY_TEST_UNSET-unset}; pwd -P");
    const assay::testing::EnvironmentVariable unset("ASSAY_TEST_UNSET", "there");
    command.unset = {"ASSAY_TEST_UNSET"};
    command.environment = {{"ASSAY_TEST_REPLACED", "new"}, {"ASSAY_TEST_NEW", "more"}};
    command.folder = folder.path();
    EXPECT_EQ(printed_by(command),
              "ours new more unset\n" + std::filesystem::canonical(folder.path()).string() + "\n");
    EXPECT_STREQ(::getenv("ASSAY_TEST_REPLACED"), "old");
}

std::set<int> open_descriptors_of(pid_t pid) {
    std::set<int> open;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd"))
        open.insert(std::stoi(entry.path().filename().string()));
    return open;
}

TEST(Process, ThreadsStartThemAtTheSameTime) {
    const std::set<int> before = open_descriptors();
    std::mutex mutex;
    std::vector<Process> sleepers;  // whatever they hold by mistake stays open until the end
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 8; ++thread)
        threads.emplace_back([&, thread] {
            for (int i = 0; i < 12; ++i) {
                const std::string name = std::to_string(100 * thread + i);
                ProcessCommand talker = shell("read line; echo $line " + name);
                talker.in = talker.out = Stream::pipe();
                Process process = Process::spawn(talker);
                EXPECT_EQ(::write(process.in.get(), "heard\n", 6), 6);
                EXPECT_EQ(read_to_end(process.out), "heard " + name + "\n");
                EXPECT_TRUE(process.wait().ok());
                ProcessCommand missing;
                missing.arguments = {"/nowhere/at-all"};
                EXPECT_THROW(Process::spawn(missing), CannotStart);
                if (i % 4 != 0) continue;
                ProcessCommand sleeper = shell("exec sleep 100");
                sleeper.in = sleeper.out = sleeper.err = Stream::null();
                Process asleep = Process::spawn(sleeper);
                const std::lock_guard lock(mutex);
                sleepers.push_back(std::move(asleep));
            }
        });
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(sleepers.size(), 24U);
    for (const Process& sleeper : sleepers)
        EXPECT_EQ(open_descriptors_of(sleeper.pid()), (std::set<int>{0, 1, 2}));
    sleepers.clear();
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a process that nobody has reaped";
    EXPECT_EQ(errno, ECHILD);
}

TEST(ForkedProcess, CanStartOthersWhereItsStandardStreamsAreClosed) {
    Pipe told;
    EXPECT_EQ(Process::forked([&] {
                  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
                  ProcessCommand command = shell("cat; echo out; echo err >&2");
                  command.in = command.out = command.err = Stream::pipe();
                  Process child = Process::spawn(command);
                  // What is printed here must not get into a pipe.
                  if (std::min({child.in.get(), child.out.get(), child.err.get()}) < 3) return 2;
                  if (::write(child.in.get(), "in\n", 3) != 3) return 3;
                  child.in.reset();
                  if (read_to_end(child.out) != "in\nout\n") return 4;
                  if (read_to_end(child.err) != "err\n") return 5;
                  return child.wait().ok() ? 0 : 6;
              })
                  .wait()
                  .code,
              0);
    Process parent = Process::forked([&] {
        for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
        ProcessCommand command = shell(
            "streams=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2); echo $streams >&3");
        command.descriptors = {told.write.get()};
        return Process::spawn(command).wait().ok() ? 0 : 1;
    });
    told.write.reset();
    EXPECT_EQ(read_to_end(told.read), "/dev/null /dev/null /dev/null\n");
    EXPECT_EQ(parent.wait().code, 0);
}

}  // namespace
}  // namespace assay
