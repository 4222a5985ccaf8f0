// A process that runs the schedules of some seeds, one after the other, and says after each what
// became of it. Whatever a schedule does to its process (it crashes, it never ends, it writes where
// it should not) is an outcome of that seed, and no other's.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "suite/base/process.hpp"
#include "suite/drive/campaign/campaign.hpp"

namespace assay::drive {

class SeedProcess {
  public:
    using Clock = std::chrono::steady_clock;

    /// Forks; call it in a process with one thread. It leads a process group, so that a Ctrl-C
    /// meant for us does not end it as if it had failed, and dies with us. `mode` outlives this.
    SeedProcess(const CampaignMode& mode, SeedRange seeds, const std::string& variant);
    ~SeedProcess() { end(); }
    SeedProcess(const SeedProcess&) = delete;
    SeedProcess& operator=(const SeedProcess&) = delete;

    using Answer = std::pair<std::uint64_t, SeedOutcome>;
    /// The outcomes that are known by now and were not read yet, in the order of the seeds. Does
    /// not block.
    std::vector<Answer> read();
    /// No more outcomes will come.
    bool over() const { return over_; }
    /// Seeds without an outcome; only where it is over: its process did not live to run them.
    std::optional<SeedRange> left() const;

    /// To poll for; -1: not any more. When one is readable, or at the deadline, read() has news.
    int answers_fd() const { return answers_.get(); }
    int end_fd() { return process_.pidfd(); }
    Clock::time_point deadline() const;

  private:
    void take_bytes();
    void take_lines(std::vector<Answer>& answers);
    void give_up(std::vector<Answer>& answers, const std::string& why);
    void kill_group() noexcept;
    void end() noexcept;

    const CampaignMode& mode_;
    std::uint64_t next_;  ///< the seed whose outcome comes next
    std::uint64_t last_;
    Process process_;
    FileDescriptor answers_;
    std::string bytes_;        ///< that arrived, up to a line that is not complete
    Clock::time_point since_;  ///< when it began with next_
    bool over_ = false;
};

}  // namespace assay::drive
