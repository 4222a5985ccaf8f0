// Where unfinished work of a session lies: folders beside the database that outlive an
// interruption.
#pragma once

#include <filesystem>
#include <string>

#include "suite/experiment/experiment.hpp"

namespace assay::store {
class Store;
}

namespace assay::runner {

/// DATABASE.state/SESSION/: a folder for each sample, in which a long one keeps checkpoints of
/// itself, and one that all samples of the session share (a trained model that several of them
/// start from). Nothing is made here: a sample makes its folder when it has something to keep.
class StateFolder {
  public:
    StateFolder(const std::filesystem::path& database, const std::string& session);

    /// Fills in `state` and `shared` of a sample about to run.
    void assign(SampleSpec& spec) const;
    /// The sample came to an end: what it kept is of no more use.
    void sample_finished(const SampleSpec& spec) const;
    void session_finished() const;

    /// Removes what belongs to sessions that will never go on: finished ones, interrupted ones of
    /// another build, and such as the store does not know.
    static void remove_abandoned(const store::Store& store);

  private:
    std::filesystem::path folder_of(const SampleSpec& spec) const;
    std::filesystem::path session_;
};

}  // namespace assay::runner
