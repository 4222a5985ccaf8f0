// The folders that a sample may write to: one for temporary files, removed afterwards, and those
// beside the database, where unfinished work of a session outlives an interruption.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "suite/experiment/experiment.hpp"

namespace assay::store {
class Store;
}

namespace assay::runner {

class ScratchFolder {
  public:
    /// Below TMPDIR or /tmp; the name carries our process id, so that remove_abandoned() can tell.
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

    /// Removes the scratch folders that runners killed by SIGKILL left behind. Returns how many.
    static int remove_abandoned();

  private:
    std::filesystem::path path_;
};

/// DATABASE.state/SESSION/: a folder for each sample, in which a long one keeps checkpoints of
/// itself, and one that all samples of the session share (a trained model that several of them
/// start from). Nothing is made here: a sample makes its folder when it has something to keep.
class StateFolder {
  public:
    /// What an interrupted session kept is kept this long after its interruption, or until the
    /// session is pruned: whoever goes back to the build that began it takes it up again.
    static constexpr int kept_days = 30;

    struct Removed {
        std::string session;
        double bytes = 0;
        std::string why;
    };

    StateFolder(const std::filesystem::path& database, const std::string& session);

    /// Fills in `state` and `shared` of a sample about to run.
    void assign(SampleSpec& spec) const;
    /// The sample came to an end: what it kept is of no more use.
    void sample_finished(const SampleSpec& spec) const;
    void session_finished() const;

    /// Removes what belongs to sessions that will never go on: finished ones, those interrupted
    /// more than kept_days ago, and such as the store does not know. Returns what, so that it can
    /// be said: checkpoints may be hours of work.
    static std::vector<Removed> remove_abandoned(const store::Store& store);
    /// Of sessions that were deleted; those that keep nothing are left out. `dry_run`: only looks.
    static std::vector<Removed> remove_pruned(const std::filesystem::path& database,
                                              const std::vector<std::string>& sessions,
                                              bool dry_run);

  private:
    std::filesystem::path folder_of(const SampleSpec& spec) const;
    std::filesystem::path session_;
};

}  // namespace assay::runner
