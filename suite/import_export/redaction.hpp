// Takes out of texts what tells whose machine results come from.
#pragma once

#include <SQLiteCpp/Database.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::import_export {

/// Replaces names of hosts, as whole words in any case, and absolute paths. "/home/ann/run/x.db"
/// becomes ".../x.db", a folder of system programs (/usr, /opt, /proc …) stays as it is,
/// "/home/ann" alone becomes "~". Paths are looked for within texts, because the texts stay: axes
/// tell series apart, and reasons, events and logs are all that says why a sample failed.
class Redaction {
  public:
    /// Name → what stands for it.
    explicit Redaction(std::map<std::string, std::string> names) : names_(std::move(names)) {}

    std::string text(std::string_view) const;
    /// True when the bytes hold one of the names.
    bool concerns(std::string_view bytes) const;

  private:
    std::map<std::string, std::string> names_;
};

/// Redacts every text of a results database in place: names of the machines in it become "host-"
/// and the beginning of their fingerprint, so that they stay told apart, and equal names equal;
/// `names` (cluster nodes, users) become "name-1", "name-2" …. Of JSON the values change, and the
/// names of members in the details of events, which programs under test choose. Folders of samples
/// are emptied. Axis values change with the identity of their series, artifacts with their hash;
/// one that is no text and holds a name is replaced by a note. Axes, labels and names of baselines
/// that would become equal end with "~" and a hash of what they were. What the program itself names
/// (experiments, variants, metrics, tables, units, devices) stays. What the nightly gate knows
/// goes: it names rows by axes that would no longer be theirs.
void redact(SQLite::Database&, const std::vector<std::string>& names);

}  // namespace assay::import_export
