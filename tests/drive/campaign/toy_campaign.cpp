#include "tests/drive/campaign/toy_campaign.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "suite/base/error.hpp"

namespace assay::testing {
namespace {

using drive::SeedOutcome;

SeedOutcome kept(std::uint64_t seed) {
    return {.ok = true,
            .why = "",
            .counts = {{"commits", static_cast<long>(seed % 5)},
                       {"fault.kill", static_cast<long>(seed % 2)}},
            .says = ""};
}

SeedOutcome broken(std::uint64_t seed, std::string why) {
    SeedOutcome outcome = kept(seed);
    outcome.ok = false;
    outcome.why = std::move(why);
    outcome.says = "kill:rank=0@step=" + std::to_string(seed % 7);
    return outcome;
}

SeedOutcome steady(std::uint64_t seed, const std::string& variant) {
    const bool fails = variant == "strict"    ? seed % 10 == 0
                       : variant == "lenient" ? false
                                              : seed % 41 == 0;
    return fails ? broken(seed, "a step is missing") : kept(seed);
}

/// Into every pipe but the standard streams, which the test itself may be reading.
void write_to_pipes(const std::string& text) {
    for (int fd = STDERR_FILENO + 1; fd < 256; ++fd) {
        struct stat status {};
        if (::fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode)) [[maybe_unused]]
            const ssize_t ignored = ::write(fd, text.data(), text.size());
    }
}

SeedOutcome rough(std::uint64_t seed, const std::string&) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    if (seed % 2 == 1) return kept(seed);
    switch (static_cast<Trouble>(seed)) {
        case Trouble::broken_rule:
            return broken(seed, "the lineage has no step 3");
        case Trouble::abort:
            std::abort();
        case Trouble::endless_loop:
            while (::getppid() != 0) {
            }
            break;
        case Trouble::garbage:
            write_to_pipes("}{\n");
            return kept(seed);
        case Trouble::exit_well:
            std::_Exit(0);
        case Trouble::exception:
            throw std::runtime_error("no replica of expert 3 is left");
        case Trouble::thrown_number:
            throw 1;
        case Trouble::print:
            std::puts("what a seed prints is no part of the answer");
            return kept(seed);
        case Trouble::leave_child:
            if (::fork() == 0) {
                ::sleep(600);
                std::_Exit(0);
            }
            std::_Exit(3);
        case Trouble::sigkill:
            ::raise(SIGKILL);
            return kept(seed);
        case Trouble::no_utf8:
            return broken(seed, "step \xff is missing");
        case Trouble::close_all:
            ::close_range(STDERR_FILENO + 1, ~0U, 0);
            return kept(seed);
        case Trouble::flood:
            while (true) write_to_pipes(std::string(4096, 'x'));
        case Trouble::nothing:
            break;
    }
    return kept(seed);
}

SeedOutcome slow(std::uint64_t seed, const std::string&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    SeedOutcome outcome = kept(seed);
    outcome.says = "kill:rank=1@step=2";
    return outcome;
}

}  // namespace

drive::Campaign toy_campaign() {
    drive::Campaign campaign;
    campaign.says = "A toy that breaks the rules now and then";
    campaign.modes = {{.name = "steady",
                       .says = "without processes",
                       .seeds = {1, 300},
                       .prepare = {},
                       .run = steady,
                       .longest_s = 20,
                       .seeds_per_process = 7,
                       .jobs = 0},
                      {.name = "rough",
                       .says = "as bad as it gets",
                       .seeds = {1, 28},
                       .prepare = {},
                       .run = rough,
                       .longest_s = 1,
                       .seeds_per_process = 4,
                       .jobs = 2},
                      {.name = "slow",
                       .says = "with processes",
                       .seeds = {1, 1000},
                       .prepare = {},
                       .run = slow,
                       .longest_s = 20,
                       .seeds_per_process = 1,
                       .jobs = 1},
                      {.name = "elsewhere",
                       .says = "on other machines",
                       .seeds = {1, 3},
                       .prepare = [] { throw NotSupportedHere("this machine is no other"); },
                       .run = steady}};
    campaign.variants = {"strict", "lenient"};
    campaign.told = {{"commits", "steps committed"}, {"discarded", "discarded"}};
    return campaign;
}

}  // namespace assay::testing
