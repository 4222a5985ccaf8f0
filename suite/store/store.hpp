// The results database: one SQLite file in WAL mode. Only the runner writes; readers open it beside
// a running writer. Every write is one short immediate transaction with a busy timeout.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/experiment/error.hpp"
#include "suite/store/records.hpp"

namespace assay::store {

/// Foreign file, unknown schema version, read-only or full disk, network file system, ambiguous id …
class StoreError : public UserError {
    using UserError::UserError;
};

enum class Access { read, write };

/// $ASSAY_DB, else $XDG_DATA_HOME/assay/results.db, else ~/.local/share/assay/results.db.
std::filesystem::path default_path();

class Store {
  public:
    /// write: creates file and folders, migrates, marks the rows left running by a dead runner as
    /// interrupted. read: the file must exist; in a read-only folder a private copy is opened.
    static Store open(const std::filesystem::path& file, Access access);
    ~Store();
    Store(Store&&) noexcept;
    Store& operator=(Store&&) noexcept;

    const std::filesystem::path& path() const;

    // ---- writing -------------------------------------------------------------------------------
    void put_machine(const Machine&);
    /// Inserts with state "running" and this process' pid (so that a later open can tell it died).
    void begin_session(const Session&);
    void finish_session(std::string_view id, std::string_view state);
    void resume_session(std::string_view id);  ///< state back to running, pid ours

    /// Inserts a sample with status running; its series is found or made. Returns the sample's id.
    std::string begin_sample(std::string_view session, const SampleSpec&, const SeriesKey&);
    /// Stores metrics, events, series, tables, artifacts and the status in one transaction.
    void finish_sample(const Sample& finished);

    void put_claim_checks(std::string_view session, const std::vector<ClaimCheck>&);
    void annotate(std::string_view id, std::string_view text);

    // ---- reading -------------------------------------------------------------------------------
    std::vector<Session> sessions() const;  ///< newest first
    std::optional<Session> newest_unfinished(std::string_view plan_hash, std::string_view build) const;
    std::optional<Machine> machine(std::string_view fingerprint) const;

    /// Which samples of a session, without what hangs on them (metrics yes, blobs no).
    std::vector<Sample> samples(std::string_view session) const;
    /// All samples of an experiment with status ok, of the newest session that has any of each
    /// (profile, provenance, case, variant); for reports and claim checks.
    std::vector<Sample> newest_samples(std::string_view experiment) const;
    /// The same, flattened to one row per metric value.
    std::vector<Observation> observations(std::string_view experiment) const;
    /// Whole sample, blobs included. `id` may be a prefix; StoreError when unknown or ambiguous.
    Sample sample(std::string_view id) const;
    std::string resolve_session(std::string_view id_or_prefix) const;

    std::vector<StoredCheck> newest_claim_checks() const;  ///< newest of each claim

    // ---- upkeep --------------------------------------------------------------------------------
    struct CheckReport {
        bool ok = true;
        std::vector<std::string> problems;
        std::vector<std::pair<std::string, long>> rows;  ///< table → count
        double bytes = 0;
    };
    CheckReport check() const;  ///< integrity, foreign keys, orphan blobs, statuses
    struct Pruned {
        long sessions = 0, samples = 0, artifacts = 0;
    };
    /// Deletes sessions older than `days` (and what hangs on them), or only failed/interrupted samples.
    Pruned prune(std::optional<double> older_than_days, bool only_unsuccessful, bool dry_run);
    struct Merged {
        long sessions = 0, samples = 0, skipped = 0;
    };
    Merged merge(const std::filesystem::path& other);  ///< ids are UUIDs: equal ids are skipped

  private:
    struct Impl;
    explicit Store(std::unique_ptr<Impl>);
    std::unique_ptr<Impl> impl_;
};

std::string new_uuid();
std::string now_utc();  ///< ISO 8601 with milliseconds, "2026-11-21T02:03:04.567Z"

}  // namespace assay::store
