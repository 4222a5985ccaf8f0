#include "impls/lazarus/campaign/live_campaign.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "impls/lazarus/experiments/live_support.hpp"
#include "impls/lazarus/tensor_functions.hpp"
#include "suite/base/error.hpp"
#include "suite/base/process.hpp"
#include "suite/runner/sample/sample_folders.hpp"

namespace assay::lazarus {
namespace {

using nlohmann::json;

constexpr unsigned longest_s = 180;  // a schedule takes some seconds; more is a deadlock

json found_by(const TensorFunctions& tensors, std::uint64_t seed,
              const std::filesystem::path& corpus, const std::filesystem::path& scratch) {
    try {
        const auto result = tensors.run_live_schedule(seed, corpus, scratch);
        return {{"ok", result.ok},
                {"why", result.why},
                {"counts", result.counts},
                {"faults", result.faults}};
    } catch (const std::exception& error) {
        return {{"ok", false}, {"why", error.what()}, {"counts", json::object()}, {"faults", ""}};
    }
}

}  // namespace

// Forked, not a thread: a fork server wants a process in which nothing has run yet.
campaign::Outcome run_live_campaign(std::uint64_t seed) {
    if (const auto lacks = live_training_lacks()) throw NotSupportedHere(*lacks);
    const auto corpus = live_training_text();
    const TensorFunctions& tensors = tensor_functions();  // loaded once, not in every child
    const runner::ScratchFolder scratch;
    Pipe answer;
    std::fflush(nullptr);
    Process process = Process::forked(
        [&] {
            ::alarm(longest_s);
            const auto text = found_by(tensors, seed, corpus, scratch.path()).dump();
            const bool written = ::write(answer.write.get(), text.data(), text.size()) ==
                                 static_cast<ssize_t>(text.size());
            return written ? 0 : 1;
        },
        {.parent_death_signal = SIGKILL});
    answer.write.reset();
    const auto text = read_to_end(answer.read);
    const ExitStatus ended = process.wait();
    const auto found = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (found.is_discarded())
        return {false,
                ended.signal == SIGALRM ? fmt::format("it did not end within {} s", longest_s)
                                        : "its process " + to_string(ended),
                {},
                ""};
    return {found.at("ok"), found.at("why"), found.at("counts").get<std::map<std::string, long>>(),
            found.at("faults")};
}

}  // namespace assay::lazarus
