// Questions answered by several engines: what is known of every part outside the engines, which
// engine decodes it, and what that engine must have before. Knows no clock and no process; engines
// are in this process or not, and can be lost with all that they have.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "impls/decode/request_engine.hpp"
#include "impls/plato/live/answering.hpp"
#include "impls/plato/policy/placement.hpp"

namespace assay::plato {

/// A rule that was not kept: a node started before its line or what it waits for was out, an answer
/// came twice, or never; a damaged report was believed; a block was left.
class BrokenRule : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Of an answer: the plan, a node, or without a plan all of it.
struct AnsweredPart {
    std::vector<int> ids;
    std::vector<double> log_probabilities;
    bool operator==(const AnsweredPart&) const = default;
};

struct DeskSettings {
    AnswerSettings answer;
    int engines = 1;
    /// Beside them, behind them in number, with a second model: for nodes that are easy.
    AdaptiveModel adaptive;
    int small_engines = 0;
    int max_batch = 8;             ///< sequences side by side, of each engine
    int blocks = 0;                ///< of each engine's cache
    bool forgets_a_token = false;  ///< for tests that rules can be broken
};

class Desk {
  public:
    /// Keeps the references. `told`: the questions as controllers know them; `questions` but in
    /// tests that rules can be broken.
    Desk(std::span<const QuestionTokens> questions, std::span<const QuestionTokens> told,
         const DeskSettings& settings);
    ~Desk();

    // ---- engines, by number --------------------------------------------------------------------
    /// It is there, with nothing in it; static parts are computed on it first: else no node would
    /// ever go to an engine that lacks them.
    void on_there(int engine, decode::RequestEngine& is);
    /// With all that it had and ran, which others go on with.
    void on_lost(int engine);
    /// Its cache is emptied, and what is kept there for others but runs.
    void wipe(int engine);
    /// What runs there is done by somebody else, and the engine told so.
    void take_back(int engine);
    /// A part that runs there and has no links, to be moved; then it runs at `to`.
    std::optional<decode::RequestId> movable(int engine) const;
    void on_moved(int from, decode::RequestId request, int to, decode::RequestId as);

    bool there(int engine) const { return placement_.usable(engine); }
    bool has_parts(int engine) const;  ///< that run there
    bool warming(int engine) const;    ///< static parts are being computed there

    // ---- questions -----------------------------------------------------------------------------
    void begin(std::size_t question);
    bool begun(std::size_t question) const;
    bool done(std::size_t question) const;
    bool all_done() const;
    /// Between steps: nodes that are ready start, and what waits for an engine gets one. What an
    /// engine throws that is asked leaves all as it was.
    void go_on();
    /// What engines kept of its nodes is let go.
    void let_go(std::size_t question);

    // ---- what is heard -------------------------------------------------------------------------
    // Throw BrokenRule.
    void on_token(int engine, decode::RequestId request, int id, double log_probability);
    void on_ended(int engine, const decode::EndedRequest& ended);

    // ---- what is known -------------------------------------------------------------------------
    /// Throws BrokenRule where a part was never answered. [part]; without a plan the first alone.
    std::vector<AnsweredPart> answer(std::size_t question) const;
    /// Prompt tokens of a part, and those of them that were neither found in a cache nor linked:
    /// where it was begun more than once, the last time. recomputed: besides, all that was read
    /// once more of it so that others can be linked to it.
    struct PromptTokens {
        std::int64_t all = 0, recomputed = 0;
    };
    PromptTokens prompt_tokens(std::size_t question, int part) const;
    /// "tokens", "parts", "resumed", "replayed": prompts and answers computed again so that nodes
    /// can be linked to them on another engine.
    const std::map<std::string, long>& counts() const { return counts_; }

  private:
    struct PartId {
        std::size_t question = 0;
        int part = 0;
        auto operator<=>(const PartId&) const = default;
    };
    struct Journal;
    struct Session;
    struct Task {
        enum class Kind { part, replay, warming } kind = Kind::part;
        PartId part;
        std::vector<int> warms;  // these tokens
    };
    struct Seat {
        decode::RequestEngine* engine = nullptr;
        std::map<decode::RequestId, Task> tasks;
        std::map<PartId, decode::RequestId> kept;
        std::vector<PartId> waiting;  // for nodes to be kept here that they link to
    };

    Seat& seat(int engine) { return seats_[static_cast<std::size_t>(engine)]; }
    const Seat& seat(int engine) const { return seats_[static_cast<std::size_t>(engine)]; }
    Journal& journal(const PartId& part);
    const Journal& journal(const PartId& part) const;
    void warm(int engine);
    void take(std::size_t question, PartRequest request);
    void check_start(std::size_t question, int node) const;
    void begin_nodes();
    bool place(const PartId& part);
    void start(int engine, const PartId& part);
    bool has_what_it_links_to(int engine, const PartId& part);
    void replay(int engine, const PartId& part);
    static decode::RequestState heard_state(const Journal& of);
    decode::Links links_of(const Seat& seat, const PartId& part) const;
    int model_of(const PartId& part) const;

    std::span<const QuestionTokens> questions_;
    const DeskSettings settings_;
    Placement placement_;
    std::vector<Seat> seats_;
    std::vector<std::unique_ptr<Session>> sessions_;
    std::vector<PartId> pending_;  // to be given to an engine
    std::map<std::string, long> counts_;
};

}  // namespace assay::plato
