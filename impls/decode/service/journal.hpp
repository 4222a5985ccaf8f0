// What is known of one engine by whoever runs it, but for its requests, which a pool has: no I/O.
// An engine that says what no engine says is found out.
#pragma once

#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include "impls/decode/pool/pool.hpp"
#include "impls/decode/service/messages.hpp"

namespace assay::decode::service {

/// An engine broke the rules: a token of a version that it had not committed, a second end, …
class ProtocolError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Journal {
  public:
    // ---- what it is told -----------------------------------------------------------------------
    /// What it says of the attempt until it confirms it counts for nothing.
    void remove(Number attempt) { removed_.insert(attempt); }
    void begin_to_load() { why_not_loaded_.clear(); }
    void go_on() { paused_ = false; }

    // ---- what is known -------------------------------------------------------------------------
    const std::optional<EngineLimits>& limits() const { return limits_; }  ///< none: not ready
    int version() const { return version_; }                               ///< 0: not ready
    int prepared() const { return prepared_; }  ///< version that can be committed; 0: none
    const std::string& why_not_loaded() const { return why_not_loaded_; }  ///< of the last try
    bool paused() const { return paused_; }
    const std::optional<Status>& status() const { return status_; }  ///< the last that came

    // ---- what it says --------------------------------------------------------------------------
    /// Throws ProtocolError. `pool`: which attempts live on `seat`.
    void on(const FromEngine& message, const Pool& pool, Seat seat);

  private:
    void check(const Ready& ready);
    void check(const Awaits& awaits);
    void check(const Taken& taken);
    void check(const Refused& refused);
    void check(const Made& made);
    void check(const Dropped& dropped);
    void check(const Exported& exported);
    void check(const Paused&) { paused_ = true; }
    void check(const Loaded& loaded);
    void check(const NotLoaded& not_loaded) { why_not_loaded_ = not_loaded.why; }
    void check(const Committed& committed);
    void check(const Status& status) { status_ = status; }
    bool lives(Number attempt, const char* what) const;

    const Pool* pool_ = nullptr;  // of the present message
    Seat seat_ = -1;
    std::set<Number> removed_;  // and not confirmed
    std::optional<EngineLimits> limits_;
    int version_ = 0, prepared_ = 0;
    std::string why_not_loaded_;
    bool paused_ = false;
    std::optional<Status> status_;
};

}  // namespace assay::decode::service
