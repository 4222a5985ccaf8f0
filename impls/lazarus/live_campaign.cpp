#include "impls/lazarus/live_campaign.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "impls/lazarus/experiments/live_support.hpp"
#include "impls/lazarus/tensor_functions.hpp"
#include "suite/cluster/file_descriptor.hpp"
#include "suite/experiment/error.hpp"
#include "suite/runner/scratch_folder.hpp"

namespace assay::lazarus {
namespace {

using cluster::check_call;
using cluster::FileDescriptor;
using nlohmann::json;

constexpr unsigned longest_s = 180;  // a schedule takes some seconds; more is a deadlock

json found_by(const TensorFunctions& tensors, std::uint64_t seed,
              const std::filesystem::path& corpus, const std::filesystem::path& scratch) {
    try {
        const auto result = tensors.run_live_schedule(seed, corpus, scratch);
        return {{"ok", result.ok},
                {"why", result.why},
                {"counts", result.counts},
                {"faults", result.system + ": " + result.faults}};
    } catch (const std::exception& error) {
        return {{"ok", false}, {"why", error.what()}, {"counts", json::object()}, {"faults", ""}};
    }
}

std::string read_all(int fd) {
    std::string text;
    char buffer[4096];
    for (ssize_t got; (got = ::read(fd, buffer, sizeof buffer)) != 0;) {
        if (got < 0 && errno == EINTR) continue;
        check_call(static_cast<int>(got), "what a live schedule found");
        text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
}

}  // namespace

// Forked, not a thread: a fork server wants a process in which nothing has run yet.
LiveOutcome run_live_campaign(std::uint64_t seed) {
    if (const auto lacks = live_training_lacks()) throw NotSupportedHere(*lacks);
    const auto corpus = live_training_text();
    const TensorFunctions& tensors = tensor_functions();  // loaded once, not in every child
    const runner::ScratchFolder scratch;
    int ends[2];
    check_call(::pipe2(ends, O_CLOEXEC), "pipe of a live schedule");
    FileDescriptor from(ends[0]), to(ends[1]);
    std::fflush(nullptr);
    const auto child = check_call(::fork(), "process of a live schedule");
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::alarm(longest_s);
        const auto text = found_by(tensors, seed, corpus, scratch.path()).dump();
        const bool written =
            ::write(to.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
        ::_exit(written ? 0 : 1);
    }
    to = FileDescriptor();
    const auto text = read_all(from.get());
    int status = 0;
    while (::waitpid(static_cast<pid_t>(child), &status, 0) < 0 && errno == EINTR) {
    }
    const auto found = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (found.is_discarded())
        return {false,
                WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM
                    ? fmt::format("it did not end within {} s", longest_s)
                    : fmt::format("its process ended with status {}", status),
                {},
                ""};
    return {found.at("ok"), found.at("why"), found.at("counts").get<std::map<std::string, long>>(),
            found.at("faults")};
}

}  // namespace assay::lazarus
