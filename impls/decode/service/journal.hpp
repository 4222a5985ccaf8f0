// What a caller knows of one engine and of the requests it has there: no I/O. With it a request
// goes on elsewhere when its engine is lost. An engine that says what no engine says is found out.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "impls/decode/service/messages.hpp"

namespace assay::decode::service {

/// An engine broke the rules: a token of a version that it had not committed, a second end, …
class ProtocolError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Journal {
  public:
    // ---- what the caller does ------------------------------------------------------------------
    /// A request that the engine is about to be told of. `waiting`: tokens of it that the caller
    /// was not given yet, beyond those of `state`. An engine must take what fits it; what was not
    /// looked at here, it may refuse.
    enum class Looked { at, not_at };
    RequestId begin(RequestState state, std::vector<MadeToken> waiting = {},
                    Looked looked = Looked::at);
    /// In place of what it refused, the engine is told of it again.
    void begin_again(RequestId request);
    /// It is no more of this engine's business; what the engine still says of it counts for
    /// nothing.
    void drop(RequestId request);
    /// The same once the engine has said so (Exported): nothing will come of it.
    struct Left {
        RequestState state;              ///< with the tokens that the caller was given
        std::vector<MadeToken> waiting;  ///< … and those that it was not
    };
    Left leave(RequestId request);
    /// What was kept of it is not wanted any more. False: nothing was. std::logic_error as
    /// KeptSequences::release().
    bool release(RequestId kept) { return kept_.release(kept); }
    /// What came and was not given yet.
    void take(StepReport& report);
    bool has_news() const {
        return inbox_.steps > 0 || !inbox_.tokens.empty() || !inbox_.ended.empty();
    }

    // ---- what is known -------------------------------------------------------------------------
    const std::optional<EngineLimits>& limits() const { return limits_; }  ///< none: not ready
    int version() const { return version_; }                               ///< 0: not ready
    int prepared() const { return prepared_; }  ///< version that can be committed; 0: none
    const std::string& why_not_loaded() const { return why_not_loaded_; }  ///< of the last try
    void begin_to_load() { why_not_loaded_.clear(); }
    bool paused() const { return paused_; }
    void go_on() { paused_ = false; }
    const std::optional<Status>& status() const { return status_; }  ///< the last that came

    /// As the caller knows them: what it was not told of does not count.
    std::vector<RequestId> unfinished() const;
    bool idle() const { return requests_.empty(); }
    const RequestState& state_of(RequestId request) const { return requests_.at(request).state; }
    std::size_t requests() const { return requests_.size(); }  ///< whose end was not given
    /// Of requests whose end was given, as far as the caller knows.
    const KeptSequences& kept() const { return kept_; }
    int waiting() const { return waiting_; }  ///< requests in the engine, when it last said so
    /// Its end has come, given or not; or it is not known.
    bool has_ended(RequestId request) const;
    enum class Answer { none, taken, refused };
    Answer answer_to(RequestId request) const { return requests_.at(request).answer; }
    /// Whether it was refused for its keys and values alone.
    bool refused_cache(RequestId request) const { return requests_.at(request).refused_cache; }
    /// The state that was exported last; taken once.
    std::optional<Exported> take_exported();

    // ---- what the engine says ------------------------------------------------------------------
    /// Throws ProtocolError.
    void on(const FromEngine& message);

  private:
    void handle(Ready ready);
    void handle(const Taken& taken);
    void handle(const Refused& refused);
    void handle(Made made);
    void handle(const Dropped& dropped);
    void handle(Exported exported);
    void handle(const Paused&) { paused_ = true; }
    void handle(const Loaded& loaded);
    void handle(const NotLoaded& not_loaded);
    void handle(const Committed& committed);
    void handle(Status status) { status_ = std::move(status); }

    struct Known {
        RequestState state;  // as far as the caller was given tokens
        std::size_t heard = 0;
        Looked looked = Looked::at;
        Answer answer = Answer::none;
        bool refused_cache = false, ended = false;
    };
    Known* find(RequestId request, const char* what);
    void keep(const Known& known, const EndedRequest& ended);

    std::map<RequestId, Known> requests_;
    KeptSequences kept_;
    std::set<RequestId> dropped_;  // the engine has not confirmed it
    RequestId last_ = -1;
    StepReport inbox_;
    std::optional<EngineLimits> limits_;
    int version_ = 0, prepared_ = 0;
    std::string why_not_loaded_;
    bool paused_ = false;
    int waiting_ = 0;
    std::optional<Status> status_;
    std::optional<Exported> exported_;
};

}  // namespace assay::decode::service
