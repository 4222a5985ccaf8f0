// The results database: one SQLite file in WAL mode. Only the runner writes; readers open it beside
// a running writer. Every write is one short immediate transaction with a busy timeout. A Store
// belongs to one thread. Who wants to follow a writer asks changes_since() now and then
// (changes.hpp) and holds no transaction in between. Beside FILE lie FILE-wal and FILE-shm
// (SQLite's own, gone when the last user closes) and FILE-runners (empty; a living runner holds a
// lock on one byte of it).
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "suite/base/error.hpp"
#include "suite/store/changes.hpp"
#include "suite/store/history.hpp"
#include "suite/store/records.hpp"

namespace assay::store {

/// Foreign file, unknown schema version, read-only or full disk, network file system, ambiguous id
/// …
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
    /// Version of the schema that this program writes, and reads.
    static int schema();
    /// May be called by another thread: what is being read ends with a StoreError.
    void interrupt() const noexcept;
    /// Under the name of the file there is another one now, or none: what is read here is the old
    /// one, for good.
    bool replaced() const;
    /// What is read is a private copy, which changes no more.
    bool is_copy() const;

    // ---- writing -------------------------------------------------------------------------------
    void put_machine(const Machine&);
    /// Inserts with state "running" and this process' pid (so that a later open can tell it died).
    void begin_session(const Session&);
    /// state: "finished" or "interrupted". Samples still running become interrupted. Makes
    /// everything up to here safe against a power cut too.
    void finish_session(std::string_view id, std::string_view state);
    /// State back to running, pid ours. StoreError while another living runner has it.
    void resume_session(std::string_view id);

    /// One more of the session's suspects, known only after it had begun; an equal name is
    /// replaced.
    void add_suspect(std::string_view id, std::string_view name, std::string_view text);

    /// Inserts a sample with status running; its series is found or made. Returns the sample's id.
    /// A sample is unique by (session, series, seed, round): one that ended otherwise than ok is
    /// replaced (a resumed session tries it again); one that is ok or running is a StoreError.
    std::string begin_sample(std::string_view session, const SampleSpec&, const SeriesKey&);
    /// Adds what a running sample recorded since the last call, so that readers can follow it: of
    /// `part` the id and the rows count. They come after those already stored, and a chunk of a
    /// curve that grows after its earlier chunks. False, with nothing stored, while another process
    /// is writing: the sample must not wait for that, and the rows can go with the next part.
    /// StoreError as finish_sample().
    bool add_to_sample(const Sample& part);
    /// Stores the status and the metrics, events, series, tables, artifacts and hardware readings
    /// that add_to_sample() has not stored yet in one transaction. When it returns, a SIGKILL loses
    /// nothing of it.
    /// NaN and infinities are kept. StoreError, with nothing stored and the sample still running:
    /// unknown or already finished id, a metric twice with equal labels, a curve of unequal
    /// lengths, a chunk in another unit than its curve, a table row of the wrong width, a label
    /// that is not finite (RowCheck finds them before).
    void finish_sample(const Sample& finished);

    /// `session` may be empty: checked outside a session.
    void put_claim_checks(std::string_view session, const std::vector<ClaimCheck>&);
    /// `id`: a session or a sample, or a prefix of one. What is annotated is never pruned.
    void annotate(std::string_view id, std::string_view text);
    void put_calibration(const Calibration&);  ///< equal hashes are stored once
    /// For whoever reads the file without this program; the newest word counts.
    void put_metric_units(const std::vector<MetricUnit>&);
    /// Names a session (or a prefix) to compare others with; an existing name moves. Never pruned.
    void set_baseline(std::string_view name, std::string_view session);

    // ---- reading -------------------------------------------------------------------------------
    /// The last to be recorded first: what still runs, then what ended last. That is no matter of
    /// the clock, which may have been set back. Sessions that were imported or merged stand by
    /// their own dates among the others.
    std::vector<Session> sessions() const;
    /// Of each session its place in that order, the oldest 1.
    std::map<std::string, long> places() const;
    /// By its whole id.
    std::optional<Session> session(std::string_view id) const;
    /// Newest interrupted session; neither one that a living runner works on nor a night's rerun.
    std::optional<Session> newest_unfinished(std::string_view plan_hash,
                                             std::string_view build) const;
    /// Newest session of that plan and build, whatever became of it.
    std::optional<Session> newest_of_plan(std::string_view plan_hash, std::string_view build) const;
    std::optional<Machine> machine(std::string_view fingerprint) const;

    /// The samples of a session in the order they started, with metrics and events only.
    std::vector<Sample> samples(std::string_view session) const;
    /// Of those that have any sample, in name order: one pass over an index of the samples.
    std::vector<ExperimentCounts> sample_counts() const;
    SessionProgress progress(std::string_view session) const;
    /// Those that have any sample, in name order; some may be in no registry.
    std::vector<std::string> experiments() const;
    /// The same without specs and events: what comparing needs, read in one pass. `session`: whole
    /// id.
    SessionMetrics session_metrics(std::string_view session) const;
    std::vector<std::string> series_in(std::string_view session) const;  ///< ids, in no order
    SeriesKey series(const std::string& id) const;                       ///< by its whole id
    /// All samples of an experiment with status ok, of the newest session that has any of each
    /// (profile, provenance, scenario, case, variant, hardware), with metrics and events only; for
    /// reports. Newest in the order of sessions(); what a night ran again does not count.
    std::vector<Sample> newest_samples(std::string_view experiment) const;
    /// What claims are checked against: the same, flattened to one row per metric value, without
    /// outdated calibrations and data. Those are outdated on a machine (at a profile, provenance
    /// and scenario) as soon as a newer session made one of their series anew under others, unless
    /// one session used both: two files, each with cases of its own. No hash outdates none.
    std::vector<Observation> observations(std::string_view experiment) const;
    /// Samples that did not end well, of the newest session that tried the experiment, in the order
    /// they started, with metrics and events only.
    std::vector<Sample> unsuccessful_samples(std::string_view experiment) const;
    /// Every metric of every series of an experiment that the filter accepts, in the order of their
    /// keys; each series is read in one pass.
    std::vector<SeriesHistory> histories(std::string_view experiment,
                                         const HistoryFilter& filter = {}) const;
    /// The points of one of them; none when there is no such series.
    std::vector<HistoryPoint> history(const SeriesKey&, const MetricKey&,
                                      std::string_view since = "") const;
    /// The series of an experiment that have at least one ok sample, in the order of their keys.
    std::vector<SeriesKey> series_of(std::string_view experiment) const;
    /// What the ok samples of a series recorded, by name and labels.
    std::vector<MetricKey> metrics_of(const SeriesKey&) const;
    /// Whole sample, blobs included. `id` may be a prefix; StoreError when unknown or ambiguous.
    Sample sample(std::string_view id) const;
    /// Sessions and samples that came, changed, grew or went since `cursor` was returned; with a
    /// new cursor, or one that means nothing in this file (changes.hpp), everything.
    Changes changes_since(const Cursor&) const;
    /// Where a reader begins who wants to follow what is running: changes_since() tells of the
    /// sessions that run now from their beginning, and of whatever changed after that.
    Cursor before_what_runs() const;
    /// Whether a living process runs the session; a runner that was killed leaves it in the state
    /// "running" until the next one opens the file. When in doubt true.
    bool has_living_runner(std::string_view session) const;
    std::vector<MetricUnit> metric_units(std::string_view experiment) const;  ///< by name
    /// Prefixes have at least 4 characters; an ambiguous one is a StoreError that lists candidates.
    std::string resolve_session(std::string_view id_or_prefix) const;
    std::string resolve_sample(std::string_view id_or_prefix) const;
    bool has_sample(std::string_view id) const;  ///< by its whole id

    std::vector<StoredCheck> newest_claim_checks() const;            ///< newest of each claim
    std::vector<Annotation> annotations(std::string_view id) const;  ///< oldest first; id as above
    std::optional<Calibration> calibration(std::string_view hash) const;
    std::vector<Baseline> baselines() const;  ///< by name

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
        std::vector<std::string> session_ids;  ///< of the deleted sessions
    };
    /// Deletes sessions that started more than `older_than_days` ago with all that hangs on them;
    /// with `only_unsuccessful` only their samples that are neither ok nor running (without days:
    /// of every session). Kept in any case: what is annotated (a session with an annotated sample
    /// counts), baselines, and sessions of living runners. dry_run counts without deleting.
    /// StoreError when neither days nor only_unsuccessful is given.
    Pruned prune(std::optional<double> older_than_days, bool only_unsuccessful, bool dry_run);
    struct Merged {
        long sessions = 0, samples = 0, skipped = 0;
    };
    /// Copies what is unknown here in one transaction; ids are UUIDs: equal ids are skipped.
    /// Samples still running in `other` are left out, its running sessions arrive as interrupted;
    /// merging again later brings the rest. `which` restricts it to a part of `other`, with the
    /// machines, calibrations, checks and notes that belong to that part. A file of an older schema
    /// is read through a copy that is brought up to date; StoreError for a newer one.
    Merged merge(const std::filesystem::path& other, const Selection& which = {});

  private:
    friend class Nights;  // nights.hpp: what the nightly gate keeps
    struct Impl;
    explicit Store(std::unique_ptr<Impl>);
    std::unique_ptr<Impl> impl_;
};

/// How series name a calibration: SHA-256 of its parameters as JSON text, members in name order.
std::string calibration_hash(const nlohmann::json& parameters);
std::string now_utc();  ///< ISO 8601 with milliseconds, "2026-11-21T02:03:04.567Z"

/// Finds what finish_sample() would refuse a sample for, row by row as the sample recorded it. A
/// row that is refused is to be left out: the later value of a metric recorded twice, a curve, a
/// table.
class RowCheck {
  public:
    /// Why it cannot be stored, as a sentence; nullopt: it can.
    std::optional<std::string> refusal(const MetricValue&);
    std::optional<std::string> refusal(const TimeSeries&);
    std::optional<std::string> refusal(const Table&);

  private:
    using Named = std::pair<std::string, std::string>;  // name and labels
    std::set<Named> metrics_;
    std::map<Named, std::string> units_;  // of curves that grow
};

}  // namespace assay::store
