// The answers are lines of JSON on a pipe, one per seed:
//   {"seed":17,"ok":false,"why":"…","counts":{"commits":20},"says":"…"}
#include "suite/drive/campaign/seed_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "suite/cluster/processes/signal_watch.hpp"

namespace assay::drive {
namespace {

using nlohmann::json;

/// No outcome is as long as that.
constexpr std::size_t longest_line = 1 << 20;

bool is_readable(int fd) {
    pollfd entry{fd, POLLIN, 0};
    return ::poll(&entry, 1, 0) > 0;
}

SeedOutcome outcome_of(const CampaignMode& mode, std::uint64_t seed, const std::string& variant) {
    const auto threw = [](std::string why) {
        return SeedOutcome{.ok = false, .why = std::move(why), .counts = {}, .says = ""};
    };
    try {
        return mode.run(seed, variant);
    } catch (const std::exception& error) {
        return threw(error.what());
    } catch (...) {
        return threw("it threw something that is no std::exception");
    }
}

/// What the process does; its exit status.
int answer_all(const CampaignMode& mode, SeedRange seeds, const std::string& variant, int fd) {
    ::setpgid(0, 0);
    cluster::SignalWatch::discard_inherited();
    // What a seed writes where it should not must reach nobody: not the pipe of our signals, not
    // that of another process.
    close_all_but({fd});
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
        const SeedOutcome outcome = outcome_of(mode, seed, variant);
        std::fflush(stdout);
        const json line{{"seed", seed},
                        {"ok", outcome.ok},
                        {"why", outcome.why},
                        {"counts", outcome.counts},
                        {"says", outcome.says}};
        if (!write_all(fd, line.dump(-1, ' ', false, json::error_handler_t::replace) + '\n'))
            return 1;
    }
    return 0;
}

/// Nothing: that is no answer to `seed`.
std::optional<SeedOutcome> parsed(std::string_view line, std::uint64_t seed) {
    try {
        const json answer = json::parse(line);
        if (answer.at("seed") != seed) return std::nullopt;
        return SeedOutcome{.ok = answer.at("ok"),
                           .why = answer.at("why"),
                           .counts = answer.at("counts").get<std::map<std::string, long>>(),
                           .says = answer.at("says")};
    } catch (const json::exception&) {
        return std::nullopt;
    }
}

}  // namespace

SeedProcess::SeedProcess(const CampaignMode& mode, SeedRange seeds, const std::string& variant)
    : mode_(mode), next_(seeds.first), last_(seeds.last) {
    Pipe pipe;
    std::fflush(nullptr);  // what is buffered must not be written twice
    process_ = Process::forked([&] { return answer_all(mode, seeds, variant, pipe.write.get()); },
                               {.parent_death_signal = SIGKILL});
    answers_ = std::move(pipe.read);
    since_ = Clock::now();
}

SeedProcess::Clock::time_point SeedProcess::deadline() const {
    return since_ + std::chrono::duration_cast<Clock::duration>(
                        std::chrono::duration<double>(mode_.longest_s));
}

std::optional<SeedRange> SeedProcess::left() const {
    if (next_ > last_) return std::nullopt;
    return SeedRange{next_, last_};
}

std::vector<SeedProcess::Answer> SeedProcess::read() {
    std::vector<Answer> answers;
    if (over_) return answers;
    const bool ended = is_readable(process_.pidfd());  // asked first: all that it wrote is there
    const auto now = Clock::now();
    do {
        take_bytes();
        take_lines(answers);
    } while (ended && !over_ && answers_ && is_readable(answers_.get()));
    if (over_) return answers;
    if (ended) {
        kill_group();
        give_up(answers, "its process ended early: " + to_string(process_.wait()));
    } else if (answers.empty() && now >= deadline()) {
        give_up(answers, fmt::format("it did not end within {} s", mode_.longest_s));
    }
    return answers;
}

void SeedProcess::take_bytes() {
    char bytes[1 << 16];
    while (answers_ && is_readable(answers_.get())) {
        const ssize_t count = ::read(answers_.get(), bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) continue;
        check_call(static_cast<int>(count), "reading from a process");
        if (count == 0) answers_.reset();  // the process may go on for a while
        bytes_.append(bytes, static_cast<std::size_t>(count));
        if (bytes_.size() > longest_line) return;  // the rest when these are taken
    }
}

void SeedProcess::take_lines(std::vector<Answer>& answers) {
    std::size_t begin = 0;
    for (std::size_t end = 0; !over_ && (end = bytes_.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
        auto outcome = parsed(std::string_view(bytes_).substr(begin, end - begin), next_);
        if (!outcome) return give_up(answers, "its process wrote something else than an outcome");
        answers.emplace_back(next_, *std::move(outcome));
        over_ = next_++ == last_;
        since_ = Clock::now();
    }
    bytes_.erase(0, begin);
    if (!over_ && bytes_.size() > longest_line)
        give_up(answers, "its process wrote something else than an outcome");
}

/// What it was at has failed; the process is of no more use.
void SeedProcess::give_up(std::vector<Answer>& answers, const std::string& why) {
    answers.emplace_back(next_++, SeedOutcome{.ok = false, .why = why, .counts = {}, .says = ""});
    over_ = true;
    end();
}

/// With whatever it has started; before it is reaped, so that the group is still its own.
void SeedProcess::kill_group() noexcept {
    if (process_.running()) ::kill(-process_.pid(), SIGKILL);
}

void SeedProcess::end() noexcept {
    kill_group();
    process_ = {};
}

}  // namespace assay::drive
