// Questions answered by several engines: which nodes are asked for when, where each goes, and what
// must be there before. Who has which, what it has said, and what becomes of it when its engine is
// lost is a pool's (impls/decode/pool). Knows no clock and no process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "impls/decode/pool/pool.hpp"
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
    AdaptiveModel adaptive;  ///< easy nodes go to seats of model 1, which then must be there
    int max_batch = 8;       ///< sequences side by side, of each engine
    int blocks = 0;          ///< of each engine's cache
};

class Desk final : public decode::Chooser {
  public:
    /// Keeps the references. `told`: the questions as controllers know them; `questions` but in
    /// tests that rules can be broken.
    Desk(decode::Pool& pool, std::span<const QuestionTokens> questions,
         std::span<const QuestionTokens> told, const DeskSettings& settings);
    ~Desk() override;

    // ---- questions -----------------------------------------------------------------------------
    void begin(std::size_t question);
    bool begun(std::size_t question) const;
    bool done(std::size_t question) const;
    bool all_done() const;
    /// Nodes that are ready are asked for.
    void go_on();

    // ---- seats ---------------------------------------------------------------------------------
    /// At those that the pool has. On new ones static parts are computed first: else no node would
    /// ever go to an engine that lacks them. choose() and go_on() look, too.
    void look();
    /// What a part links to and its seat lacks is computed there first.
    std::optional<decode::Seat> choose(decode::Number part,
                                       std::span<const decode::Place> places) override;
    /// Its cache was emptied; what is kept there for others but runs is given up.
    void wipe(decode::Seat seat);
    /// Parts that are there go elsewhere.
    void take_back(decode::Seat seat);
    bool has_parts(decode::Seat seat) const;  ///< or computes some once more
    bool warming() const;                     ///< static parts are being computed

    // ---- what is heard: throws BrokenRule ------------------------------------------------------
    void on_tokens(decode::Number request, std::span<const decode::Token> tokens);
    void on_done(const decode::Done& done);

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
    struct Part {
        decode::Number number = -1;            // of the pool; -1: not asked for yet
        std::optional<decode::Seat> waits_at;  // for what it links to
        std::int64_t recomputed = 0;           // prompt tokens
    };
    struct PartId {
        std::size_t question = 0;
        int part = 0;
    };
    struct Session;

    Part& part(const PartId& id);
    const Part& part(const PartId& id) const;
    template <class Do>
    void each_part(Do&& act);
    std::vector<int> tokens_of(decode::Number request) const;
    decode::Number ask(decode::Ask ask);
    void ask_part(const PartId& id, const PartRequest& request);
    void check_start(std::size_t question, int node) const;
    void ask_extra(decode::Ask asked, const std::vector<int>& tokens);
    void warm(const decode::Place& place);
    bool warms(decode::Number request) const;
    std::optional<decode::Seat> best_seat(decode::Number request, const std::vector<int>& tokens,
                                          std::span<const decode::Place> places);
    bool has_what_it_links_to(decode::Seat seat, decode::Number request);
    void replay(decode::Seat seat, decode::Number node);
    void on_part(const PartId& id, const decode::Done& done);
    void on_replay(const decode::Done& done);

    decode::Pool& pool_;
    std::span<const QuestionTokens> questions_;
    const DeskSettings settings_;
    Placement placement_;
    std::vector<decode::Seat> seats_;  // as last looked at
    std::vector<std::unique_ptr<Session>> sessions_;
    std::unordered_map<decode::Number, PartId> parts_;
    std::set<decode::Number> extras_;  // warming and replays that are not over
    std::size_t open_ = 0;             // requests of whose end nothing was heard
    std::map<std::string, long> counts_;
};

}  // namespace assay::plato
