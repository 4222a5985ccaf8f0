#include "suite/base/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>

#include "tests/base/processes.hpp"
#include "tests/base/shell.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay {
namespace {

using assay::testing::eventually;
using assay::testing::is_gone;
using assay::testing::open_descriptors;
using assay::testing::pids_in;
using assay::testing::printed_by;
using assay::testing::shell;
using assay::testing::TemporaryFolder;
using namespace std::chrono_literals;

TEST(Process, TellsHowItEnded) {
    EXPECT_TRUE(Process::spawn(shell("exit 0")).wait().ok());
    const ExitStatus seven = Process::spawn(shell("exit 7")).wait();
    EXPECT_EQ(seven.code, 7);
    EXPECT_FALSE(seven.ok());
    EXPECT_EQ(to_string(seven), "exited with status 7");
    const ExitStatus killed = Process::spawn(shell("kill -TERM $$")).wait();
    EXPECT_FALSE(killed.code);
    EXPECT_FALSE(killed.ok());
    EXPECT_EQ(killed.signal, SIGTERM);
    EXPECT_EQ(to_string(killed), "killed by signal 15 (Terminated)");
}

TEST(Process, SpeaksThroughItsPipes) {
    ProcessCommand command = shell("read line; echo \"heard $line\"; echo complaint >&2");
    command.in = command.out = command.err = Stream::pipe();
    Process process = Process::spawn(command);
    ASSERT_EQ(::write(process.in.get(), "words\n", 6), 6);
    EXPECT_EQ(read_to_end(process.out), "heard words\n");
    EXPECT_EQ(read_to_end(process.err), "complaint\n");
    EXPECT_TRUE(process.wait().ok());
}

TEST(Process, NullIsEmptyAndTakesAll) {
    ProcessCommand command = shell("cat; echo lost; echo lost >&2");
    command.in = command.out = command.err = Stream::null();
    EXPECT_TRUE(Process::spawn(command).wait().ok());
}

TEST(Process, SaysMuchMoreThanAPipeHolds) {
    constexpr std::size_t most = std::size_t{8} << 20;
    ProcessCommand command = shell("head -c 8388608 /dev/zero | tr '\\0' x");
    const std::string text = printed_by(command);
    EXPECT_EQ(text.size(), most);
    EXPECT_EQ(std::count(text.begin(), text.end(), 'x'), static_cast<std::ptrdiff_t>(most));
    // Nobody reads: it waits, and ends when the reader goes.
    command.out = Stream::pipe();
    Process process = Process::spawn(command);
    EXPECT_EQ(read_to_end(process.out, 1), "x");
    process.out.reset();
    EXPECT_TRUE(process.wait_for(20s));
}

TEST(Process, MayLiveOnWithoutItsOutput) {
    ProcessCommand command = shell("echo last; exec >&- 2>&-; exec sleep 100");
    command.out = Stream::pipe();
    Process process = Process::spawn(command);
    EXPECT_EQ(read_to_end(process.out), "last\n");
    EXPECT_FALSE(process.wait_for(0.02s));
    EXPECT_FALSE(is_gone(process.pid()));
}

TEST(Process, BothOutputsCanGoIntoOneDescriptor) {
    Pipe pipe;
    ProcessCommand command = shell("echo one; echo two >&2");
    command.out = command.err = Stream::descriptor(pipe.write.get());
    Process process = Process::spawn(command);
    pipe.write.reset();
    EXPECT_EQ(read_to_end(pipe.read), "one\ntwo\n");
}

TEST(Process, DescriptorsArePassedOnFromThreeAndNoOthers) {
    const TemporaryFolder folder;
    std::ofstream(folder / "first") << "1st\n";
    std::ofstream(folder / "second") << "2nd\n";
    // Not closed on exec: only what is named may be inherited all the same.
    const FileDescriptor first(::open((folder / "first").c_str(), O_RDONLY));
    const FileDescriptor second(::open((folder / "second").c_str(), O_RDONLY));
    const FileDescriptor unnamed(::open("/dev/null", O_RDONLY));
    ASSERT_TRUE(first && second && unnamed);
    ProcessCommand command = shell("cat <&3; cat <&4; ls -1 /proc/self/fd | wc -l");
    command.descriptors = {second.get(), first.get()};
    // Those of ls: three standard streams, the two, and the folder that it lists.
    EXPECT_EQ(printed_by(command), "2nd\n1st\n6\n");
}

TEST(Process, LeavesNoDescriptorOpenHere) {
    const std::set<int> before = open_descriptors();
    {
        ProcessCommand command = shell("exit 0");
        command.in = command.out = command.err = Stream::pipe();
        Process process = Process::spawn(command);
        process.pidfd();
        process.wait();
        ProcessCommand missing;
        missing.arguments = {"/nowhere/at-all"};
        missing.out = Stream::pipe();
        EXPECT_THROW(Process::spawn(missing), CannotStart);
    }
    EXPECT_EQ(open_descriptors(), before);
}

TEST(Process, WaitingCanBeLimited) {
    Process process = Process::spawn(shell("exec sleep 100"));
    EXPECT_FALSE(process.wait_for(0.02s));
    EXPECT_TRUE(process.running());
    process.kill();
    const auto status = process.wait_for(20s);
    ASSERT_TRUE(status);
    EXPECT_EQ(status->signal, SIGKILL);
    EXPECT_FALSE(process.running());
    process.kill();  // nobody
    EXPECT_THROW(process.wait(), std::logic_error);
}

TEST(Process, ReadingCanBeLimited) {
    ProcessCommand command = shell("echo something; exec sleep 100");
    command.out = Stream::pipe();
    Process process = Process::spawn(command);
    EXPECT_EQ(read_to_end(process.out, 4), "some");
    EXPECT_EQ(read_to_end(process.out, 5), "thing");
    EXPECT_EQ(read_to_end(process.out, 100, 0.05s), "\n");
}

TEST(Process, ReadingIsLimitedWhereItNeverStopsTalking) {
    ProcessCommand command = shell("while :; do echo on; sleep 0.01; done");
    command.out = Stream::pipe();
    Process process = Process::spawn(command);
    EXPECT_EQ(read_to_end(process.out, 3), "on\n");
    const std::string more = read_to_end(process.out, 1 << 20, 0.1s);
    EXPECT_EQ(more.find_first_not_of("on\n"), std::string::npos);
    EXPECT_TRUE(process.running());
}

TEST(Process, GoesWithItsObject) {
    pid_t pid = -1;
    {
        const Process process = Process::spawn(shell("exec sleep 100"));
        pid = process.pid();
        EXPECT_FALSE(is_gone(pid));
    }
    EXPECT_TRUE(is_gone(pid));
    Process moved;
    {
        Process process = Process::spawn(shell("exec sleep 100"));
        pid = process.pid();
        moved = std::move(process);
    }
    EXPECT_FALSE(is_gone(pid));
    moved = Process();
    EXPECT_TRUE(is_gone(pid));
}

TEST(Process, AGroupIsKilledAsAWhole) {
    const TemporaryFolder folder;
    const auto pids = folder / "pids";
    ProcessCommand command = shell("sleep 100 & echo $! >" + pids.string() + "; wait");
    command.own_group = true;
    {
        Process process = Process::spawn(command);
        ASSERT_TRUE(eventually([&] { return pids_in(pids).size() == 1; }));
        EXPECT_EQ(::getpgid(process.pid()), process.pid());
        EXPECT_EQ(::getpgid(*pids_in(pids).begin()), process.pid());
    }
    EXPECT_TRUE(eventually([&] { return is_gone(*pids_in(pids).begin()); }));
}

TEST(Process, DiesWithTheThreadThatStartedItWhereAsked) {
    ProcessCommand command = shell("exec sleep 100");
    command.parent_death_signal = SIGTERM;
    Process process;
    std::thread([&] { process = Process::spawn(command); }).join();
    EXPECT_EQ(process.wait().signal, SIGTERM);
}

TEST(ForkedProcess, ReturnsWhatItsBodyReturns) {
    int here = 1;
    EXPECT_EQ(Process::forked([&] { return here += 1; }).wait().code, 2);
    EXPECT_EQ(here, 1) << "it was a copy";
    EXPECT_EQ(Process::forked([]() -> int { throw 5; }).wait().code, 1);
    EXPECT_EQ(Process::forked([]() -> int {
                  ::raise(SIGKILL);
                  return 0;
              })
                  .wait()
                  .signal,
              SIGKILL);
}

TEST(ForkedProcess, CanUseWhatIsOpenHere) {
    Pipe pipe;
    Process process =
        Process::forked([&] { return ::write(pipe.write.get(), "found", 5) == 5 ? 0 : 1; });
    pipe.write.reset();
    EXPECT_EQ(read_to_end(pipe.read), "found");
    EXPECT_TRUE(process.wait().ok());
}

}  // namespace
}  // namespace assay
