// One pool of requests over several engines: who has which request, what it has said, and what
// becomes of it when its engine is lost. Without I/O, clock or engine: whoever runs engines tells
// what happened, and carries orders out (local_seat.hpp, in this process;
// service/engines.hpp, over a driver). Where a request should go is a Chooser's.
//
//     pool.there(0, 0, 1);
//     const Number number = pool.ask({.request = {.prompt = {1, 2, 3}}});
//     pool.turn(chooser, orders);  // Give{number, seat 0, attempt 0}
//     pool.made(0, 0, tokens, 0, &ended);
//     pool.turn(chooser, orders);  // Done{number}
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "impls/decode/step_report.hpp"

namespace assay::decode {

using Seat = std::int32_t;    ///< a model on a worker; of a worker there may be several
using Number = std::int64_t;  ///< of a request, or of an attempt at it; never used twice

struct Token {
    std::int32_t id = -1;
    float logprob = 0, sampled = 0;  ///< nats, as MadeToken has them
    bool operator==(const Token&) const = default;
};
/// Who made which tokens with which weights.
struct Run {
    Seat seat = -1;
    int version = 0;
    std::int32_t tokens = 0;
    bool operator==(const Run&) const = default;
};

/// What becomes of a request whose engine is lost: it goes on from its tokens, begins anew, or
/// ends.
enum class Loss { resume, restart, drop };

struct Ask {
    BatchRequest request;  ///< links are to numbers of this pool
    int model = 0;
    std::optional<Seat> only{};  ///< no other; lost with it
    Loss loss = Loss::resume;
    /// Computed once more: what is kept of it counts as kept of that one. `tokens` are known
    /// already; their run is of seat -1.
    Number copy_of = -1;
    std::vector<Token> tokens{};
};

/// A seat as a chooser sees it.
struct Place {
    Seat seat = -1;
    int model = 0, version = 0;
    int given = 0;    ///< requests that it has
    int waiting = 0;  ///< of these, not admitted yet when it last spoke
    bool takes = true;
};

class Chooser {
  public:
    virtual ~Chooser() = default;
    /// One that takes, of the request's model, with what it is linked to; nothing: it waits.
    virtual std::optional<Seat> choose(Number request, std::span<const Place> places) = 0;
};

// ---- orders -------------------------------------------------------------------------------------

/// As Pool::state() says, under the attempt's number; answered by taken() or refused(). handle: of
/// a state with keys and values that was exported(), to be brought there; 0: none.
struct Give {
    Number request = -1;
    Seat seat = -1;
    Number attempt = -1;
    std::size_t from = 0;  ///< tokens that are known
    std::uint64_t handle = 0;
    bool operator==(const Give&) const = default;
};
struct Remove {
    Number attempt = -1;
    Seat seat = -1;
    bool operator==(const Remove&) const = default;
};
/// Out of the engine; answered by exported() or refused(), or crossed by its end.
struct Export {
    Number attempt = -1;
    Seat seat = -1;
    bool with_cache = false;
    bool operator==(const Export&) const = default;
};
/// A state that was exported and is not wanted (any more): it may follow a Give of it that was
/// neither taken nor refused.
struct Discard {
    std::uint64_t handle = 0;
    bool operator==(const Discard&) const = default;
};
struct Unkeep {
    Number kept = -1;  ///< attempt
    Seat seat = -1;
    bool operator==(const Unkeep&) const = default;
};
/// dropped: with its engine, or with what it is linked to; failed: by no finite logits, no blocks,
/// or all engines that are there refuse it.
struct Done {
    enum class How { ended, cancelled, failed, dropped };
    Number request = -1;
    How how = How::ended;
    EndedRequest end{};  ///< as the last attempt told it, but `request`, the pool's number
};
using Order = std::variant<Give, Remove, Export, Discard, Unkeep, Done>;

class Pool {
  public:
    // ---- whoever has requests ------------------------------------------------------------------
    Number ask(Ask ask);
    void cancel(Number request);  ///< nothing where it is over
    /// From its seat, which is told to remove it; as if that were lost, but with its tokens.
    void take_back(Number request);
    /// To `to`, with its keys and values if they fit there. Ignored where it is not with an engine,
    /// moves already, or is bound to its engine by links or `only`.
    void move(Number request, Seat to, bool with_cache);
    /// What is kept of it is not wanted any more: on all seats, now and later, or on one, now.
    /// Requests that are there and linked to it have it until they end there; where it is kept
    /// nowhere else, they end with their engine.
    void release(Number kept, std::optional<Seat> on = {});
    /// It is over, and not asked about again.
    void forget(Number request);

    // ---- whoever runs engines ------------------------------------------------------------------
    /// Ready, with nothing in it. most: requests that it takes.
    void there(Seat seat, int model, int version, int most = std::numeric_limits<int>::max());
    void version(Seat seat, int version);
    void open(Seat seat, bool open);  ///< to more requests; those that it has stay
    /// With all that it had, or it will never be there; it may be there() again.
    void lost(Seat seat);
    /// False: there is no such living attempt there, and nothing of it counts. `ended`: null if it
    /// goes on.
    bool made(Seat seat, Number attempt, std::span<const Token> tokens, int waiting,
              const EndedRequest* ended);
    void taken(Seat seat, Number attempt);
    void refused(Seat seat, Number attempt);
    /// Its state is out of the engine, which knows nothing of it any more.
    void exported(Seat seat, Number attempt, std::uint64_t handle);

    /// Appends what is to be done now: first what was decided since the last turn, then requests
    /// that wait for a seat, by priority, then number.
    void turn(Chooser& chooser, std::vector<Order>& orders);

    // ---- what is known -------------------------------------------------------------------------
    const Ask& asked(Number request) const { return at(request).ask; }
    std::span<const Token> tokens(Number request) const { return at(request).ask.tokens; }
    std::span<const Run> runs(Number request) const { return at(request).runs; }
    bool over(Number request) const { return at(request).over; }
    std::optional<Seat> seat(Number request) const;                 ///< that has it
    std::optional<Number> living(Seat seat, Number attempt) const;  ///< its request
    std::vector<Number> with(Seat seat) const;                      ///< requests, by number
    bool moves(Number request) const { return at(request).move.has_value(); }
    bool bound(Number request) const { return at(request).ask.request.binds(); }
    /// The attempt of which keys and values are kept there.
    std::optional<Number> kept(Number request, Seat seat) const;
    bool has_linked(Number request, Seat seat) const;        ///< all that it is linked to
    std::size_t open() const { return open_; }               ///< requests that are not over
    std::size_t pending() const { return pending_.size(); }  ///< that have no seat
    const std::vector<Place>& places() const { return places_; }
    /// To be given, links to what is kept there. model: RequestState's.
    RequestState state(const Give& give, const std::string& model) const;

  private:
    struct Record {
        Ask ask;  // with all tokens
        std::vector<Run> runs;
        Number attempt = -1;  // living; -1: none
        Seat seat = -1;
        std::uint64_t handle = 0;      // of the attempt, until it is taken
        std::optional<Seat> move;      // where to
        std::vector<Number> linked;    // attempts at what it is linked to, of its own attempt
        std::vector<Seat> refused_by;  // from its tokens
        bool taken = false, admitted = false, over = false, released = false;
    };
    struct Waiting {  // for a seat
        int priority;
        Number request;
        auto operator<=>(const Waiting& other) const {
            return std::pair(other.priority, request) <=> std::pair(priority, other.request);
        }
        bool operator==(const Waiting& other) const = default;
    };
    Record& at(Number request) { return records_.at(request); }
    const Record& at(Number request) const { return records_.at(request); }
    Place* place(Seat seat);
    const Place* place(Seat seat) const;
    void count(Place& place, int more);
    Record* living_record(Seat seat, Number attempt);
    void wait(Number request, Record& record);
    bool can_be_linked(const Record& record) const;
    static bool has_refused(const Record& record, Seat seat);
    bool refused_by_all(const Record& record) const;
    std::span<const Place> open_to(const Record& record);
    void leave(Record& record);
    void lose(Seat seat);
    void lose(Number request, Record& record);
    void give(Number request, Record& record, Seat seat, std::uint64_t handle);
    void end(Number request, Record& record, Done::How how, EndedRequest end);

    std::unordered_map<Number, Record> records_;
    std::unordered_map<Number, Number> attempts_;  // living → request
    std::set<Waiting> pending_;
    struct Bounds {  // of a place
        int most = 0;
        bool open = true;
    };
    std::vector<Place> places_;  // by seat
    std::vector<Place> fewer_;   // of open_to()
    std::vector<Bounds> bounds_;
    std::map<std::pair<Number, Seat>, Number> kept_;
    std::vector<Order> decided_;
    Number last_request_ = -1, last_attempt_ = -1;
    std::size_t open_ = 0;
};

}  // namespace assay::decode
