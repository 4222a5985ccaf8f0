// One question answered by an engine: the controller of policy/ is told of the tokens that come,
// and what it starts becomes requests. Knows no engine, clock or process.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "impls/plato/live/question.hpp"
#include "impls/plato/policy/controller.hpp"
#include "impls/plato/policy/prompts.hpp"
#include "suite/base/describe.hpp"

namespace assay::plato {

/// Where linked tokens stand (KvReuse::linked). rotated: one after the other, as they would without
/// links; keys are rotated there. reserved: every node has a range of positions of its own, in all
/// prompts alike, so that nothing is rotated.
enum class LinkPositions { rotated, reserved };
ASSAY_NAMES(LinkPositions, rotated, reserved)

/// Part 0 is the plan, or the answer without one; part i is node i.
struct PartRequest {
    int part = 0;
    std::vector<int> prompt;
    std::int64_t tokens = 1;                            ///< of it, whatever they say
    std::vector<int> forced;                            ///< these, or empty
    int most_reused = std::numeric_limits<int>::max();  ///< prompt tokens from the cache
    /// Of finished nodes, leads and answers but their last token. Ascending.
    struct Link {
        int node = 0;
        int first = 0, count = 0;  ///< of that node's prompt and answer
        int at = 0;                ///< of this prompt
    };
    std::vector<Link> links;
    std::vector<int> rotations;  ///< of the prompt's tokens; empty: 0, 1, …
    bool keep = false;           ///< others will link to it

    std::int64_t linked_tokens() const {
        std::int64_t tokens = 0;
        for (const Link& link : links) tokens += link.count;
        return tokens;
    }
};

class PartDecoder {
  public:
    virtual ~PartDecoder() = default;
    virtual void start(PartRequest request) = 0;
};

struct AnswerSettings {
    Mode mode = Mode::plato;
    KvReuse reuse = KvReuse::prefix;
    Order order = Order::path;
    LinkPositions positions = LinkPositions::rotated;
    bool warm = true;  ///< static parts are cached before (not at KvReuse::none)
};

class Answering : private Actions {
  public:
    /// Keeps the references.
    Answering(const QuestionTokens& question, const AnswerSettings& settings, PartDecoder& decoder);
    Answering(const Answering&) = delete;

    /// Starts the plan, or the answer without one.
    void begin();
    /// A step begins in which so many more sequences have room.
    void on_step(int room);
    void on_token(int part, int id);
    /// It has all its tokens. std::logic_error where it has not.
    void on_ended(int part);

    bool done() const;
    int running() const { return running_; }
    /// Ids of a part so far.
    const std::vector<int>& tokens(int part) const {
        return parts_[static_cast<std::size_t>(part)].tokens;
    }
    const QuestionTokens& question() const { return question_; }
    /// Nodes in the order in which they were started.
    const std::vector<int>& started() const { return started_; }
    /// Prompt tokens of a node that was started, and those that the cache is expected to lack.
    std::int64_t prompt_tokens(int node) const { return cache_.prompt_tokens(node); }
    std::int64_t expected_recomputed(int node) const {
        return parts_[static_cast<std::size_t>(node)].recomputed;
    }

  private:
    struct Part {
        std::vector<int> tokens;
        std::int64_t wanted = 0;
        std::int64_t recomputed = 0;
        int prompt = 0;  // tokens of it
        bool ended = false;
    };

    void start(int node) override;
    std::int64_t cached_tokens(int node) const override { return cache_.cached_tokens(node); }
    void start_part(PartRequest request);
    void announce();
    void add_context(int node, PartRequest& request) const;
    void reserve_positions(int node, PartRequest& request) const;
    int most_reused() const;
    Part& part(int number) { return parts_[static_cast<std::size_t>(number)]; }
    const Part& part(int number) const { return parts_[static_cast<std::size_t>(number)]; }

    const QuestionTokens& question_;
    const AnswerSettings settings_;
    PartDecoder& decoder_;
    Controller controller_;
    PromptCache cache_;  // what the model of a step believes to be cached
    std::vector<Part> parts_;
    std::vector<int> started_;
    int running_ = 0;
    int announced_ = 0;       // nodes
    std::int64_t lines_ = 0;  // tokens of their lines
};

}  // namespace assay::plato
