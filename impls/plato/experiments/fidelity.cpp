// What linking (L3) changes of what the model says, against prompts that are computed (L2).
#include <algorithm>
#include <cmath>
#include <functional>

#include "impls/decode/back_end.hpp"
#include "impls/plato/experiments/experiments.hpp"
#include "impls/plato/experiments/recorded_plans.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::plato {
namespace {

using decode::block_positions;

/// Sums over the tokens of answers of nodes that depend on others.
struct Comparison {
    double agreement = 0, divergence = 0, computed_nats = 0, linked_nats = 0;
    std::int64_t tokens = 0;
};

std::vector<double> log_softmax(std::span<const float> logits) {
    const double most = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(logit - most);
    const double normaliser = most + std::log(sum);
    std::vector<double> out;
    out.reserve(logits.size());
    for (const float logit : logits) out.push_back(logit - normaliser);
    return out;
}

/// A sequence in the pass's cache, in blocks of its own.
class Sequence {
  public:
    Sequence(decode::ForwardPass& pass, int first_block, int blocks) : pass_(pass) {
        for (int i = 0; i < blocks; ++i) blocks_.push_back(first_block + i);
    }

    /// Tokens are fed behind what is there, rotated `shift` further on; of the last `wanted` of
    /// them `each` hears the logits.
    void feed(std::span<const int> ids, int shift, int wanted,
              const std::function<void(int index, std::span<const float>)>& each) {
        const int count = static_cast<int>(ids.size()), most = pass_.most_tokens();
        for (int done = 0; done < count;) {
            const int now = std::min(most, count - done);
            std::vector<decode::FedToken> tokens;
            std::vector<int> rows;
            for (int i = 0; i < now; ++i) {
                tokens.push_back({.id = ids[static_cast<std::size_t>(done + i)],
                                  .position = length_ + i,
                                  .blocks = blocks_.data(),
                                  .shift = shift});
                if (done + i >= count - wanted) rows.push_back(i);
            }
            pass_.run(tokens, rows);
            for (std::size_t r = 0; r < rows.size(); ++r)
                each(done + rows[r] - (count - wanted), pass_.logits(static_cast<int>(r)));
            done += now;
            length_ += now;
        }
    }
    /// Positions of another sequence behind what is there, rotated to where they then stand, and
    /// `turn` further on.
    void link(const Sequence& from, int first, int count, int turn) {
        for (int done = 0; done < count;) {
            const int source = first + done;
            const int now = std::min({count - done, block_positions - source % block_positions,
                                      block_positions - length_ % block_positions});
            pass_.link({.from = from.block(source),
                        .from_position = source % block_positions,
                        .to = block(length_),
                        .to_position = length_ % block_positions,
                        .positions = now,
                        .shift = turn});
            done += now;
            length_ += now;
        }
    }
    int length() const { return length_; }

  private:
    int block(int position) const {
        return blocks_[static_cast<std::size_t>(position / block_positions)];
    }

    decode::ForwardPass& pass_;
    std::vector<int> blocks_;
    int length_ = 0;
};

std::vector<int> joined(std::initializer_list<const std::vector<int>*> parts) {
    std::vector<int> ids;
    for (const auto* const part : parts) ids.insert(ids.end(), part->begin(), part->end());
    return ids;
}

class Fidelity {
  public:
    Fidelity(const LiveModel& model, const std::vector<QuestionTokens>& questions,
             LinkPositions positions)
        : positions_(positions) {
        std::size_t nodes = 0;
        for (const QuestionTokens& question : questions) {
            const auto need = static_cast<int>(token_need(question).longest);
            blocks_each_ = std::max(blocks_each_, need / block_positions + 1);
            nodes = std::max(nodes, question.nodes.size());
        }
        pass_ = model.forward_pass(blocks_each_ * (static_cast<int>(nodes) + 1));
    }

    void compare(const QuestionTokens& question) {
        question_ = &question;
        linked_.clear();
        for (int node = 1; node <= question.plan.size(); ++node) {
            std::vector<std::vector<double>> expected;
            const bool depends = !question.plan.node(node).dependencies.empty();
            if (depends)
                computed(node, [&](std::span<const float> logits) {
                    expected.push_back(log_softmax(logits));
                });
            std::size_t at = 0;
            link(node, [&](std::span<const float> logits) {
                if (depends) note(node, at, expected[at], log_softmax(logits));
                ++at;
            });
        }
    }

    Comparison result;

  private:
    using Heard = std::function<void(std::span<const float>)>;

    const QuestionTokens::Node& texts(int node) const { return question_->node(node); }
    /// Its own lead and answer; of every token of the answer what is said before it.
    void feed_own(Sequence& sequence, int node, int shift, const Heard& heard) const {
        std::vector<int> ids = joined({&texts(node).lead, &texts(node).answer});
        ids.pop_back();
        sequence.feed(ids, shift, static_cast<int>(texts(node).answer.size()),
                      [&](int, std::span<const float> logits) { heard(logits); });
    }
    void feed_all(Sequence& sequence, const std::vector<int>& ids, int shift) const {
        sequence.feed(ids, shift, 0, {});
    }

    void computed(int node, const Heard& heard) {
        Sequence sequence(*pass_, 0, blocks_each_);
        feed_all(sequence, joined({&question_->static_node, &question_->question}), 0);
        for (const int before : question_->plan.node(node).dependencies)
            feed_all(sequence, joined({&texts(before).lead, &texts(before).answer}), 0);
        feed_own(sequence, node, 0, heard);
    }

    struct Kept {
        Sequence sequence;
        int own = 0;    // where its lead begins
        int shift = 0;  // by which that is rotated further on
    };

    void link(int node, const Heard& heard) {
        Kept kept{.sequence = Sequence(*pass_, blocks_each_ * node, blocks_each_)};
        Sequence& sequence = kept.sequence;
        feed_all(sequence, joined({&question_->static_node, &question_->question}), 0);
        const int shared = sequence.length();
        for (const int before : question_->plan.node(node).dependencies) {
            const Kept& other = linked_[static_cast<std::size_t>(before - 1)];
            const int count =
                static_cast<int>(texts(before).lead.size() + texts(before).answer.size()) - 1;
            const int shift = shift_of(before, shared, sequence.length());
            const int turn = sequence.length() + shift - (other.own + other.shift);
            sequence.link(other.sequence, other.own, count, turn);
            feed_all(sequence, {texts(before).answer.back()}, shift);
        }
        kept.own = sequence.length();
        kept.shift = shift_of(node, shared, kept.own);
        feed_own(sequence, node, kept.shift, heard);
        linked_.push_back(std::move(kept));
    }
    /// Between where a node's lead stands and where its reserved positions are.
    int shift_of(int node, int shared, int stands) const {
        if (positions_ == LinkPositions::rotated) return 0;
        int reserved = shared;
        for (int before = 1; before < node; ++before)
            reserved += static_cast<int>(texts(before).lead.size() + texts(before).answer.size());
        return reserved - stands;
    }

    void note(int node, std::size_t at, const std::vector<double>& computed,
              const std::vector<double>& linked) {
        const auto token = static_cast<std::size_t>(texts(node).answer[at]);
        const auto best = [](const std::vector<double>& of) {
            return std::max_element(of.begin(), of.end()) - of.begin();
        };
        result.agreement += best(computed) == best(linked) ? 1 : 0;
        for (std::size_t i = 0; i < computed.size(); ++i)
            result.divergence += std::exp(computed[i]) * (computed[i] - linked[i]);
        result.computed_nats -= computed[token];
        result.linked_nats -= linked[token];
        ++result.tokens;
    }

    LinkPositions positions_;
    std::unique_ptr<decode::ForwardPass> pass_;
    int blocks_each_ = 0;
    const QuestionTokens* question_ = nullptr;
    std::vector<Kept> linked_;  // [node - 1]
};

struct LinkedAnswers : Recorded {
    LinkPositions positions{};
};

void run(const LinkedAnswers& settings, Recorder& recorder) {
    const LiveModel model;
    const auto questions = recorded_tokens(settings.answers(), model.tokenizer());
    Fidelity fidelity(model, questions, settings.positions);
    for (const QuestionTokens& question : questions) fidelity.compare(question);
    const Comparison& found = fidelity.result;
    if (found.tokens == 0)
        throw SampleError(SampleStatus::failed, "no node of these records depends on another");
    const auto tokens = static_cast<double>(found.tokens);
    recorder.metric("top1_agreement", found.agreement / tokens);
    recorder.metric("kl_nats", found.divergence / tokens);
    recorder.metric("l2_nats", found.computed_nats / tokens);
    recorder.metric("l3_nats", found.linked_nats / tokens);
    recorder.metric("tokens", tokens);
}

}  // namespace

Experiment fidelity() {
    using enum Direction;
    Declaration<LinkedAnswers> fidelity(
        {.id = "plato/fidelity",
         .title = "What linking keys and values changes",
         .source = "our own: what Plato's global context cache does is not known",
         .says = "SmolLM2-135M-Instruct reads the recorded answers (datasets/plans) of nodes that "
                 "depend on others, once behind prompts that were computed (L2), once behind "
                 "linked ones (L3): leads and answers of dependencies as they were computed under "
                 "their own prefix, themselves linked. rotated: one behind the other, keys rotated "
                 "there. reserved: every node at positions of its own. Compared is what the model "
                 "says of every token of the answers.",
         .metrics = {{"top1_agreement", "share", "of tokens, the likeliest is the same", higher,
                      true},
                     {"kl_nats", "nats", "divergence of L3 from L2, mean over tokens", lower, true},
                     {"l2_nats", "nats/token", "of the recorded text, behind computed prompts",
                      lower, true},
                     {"l3_nats", "nats/token", "… behind linked ones", lower, true},
                     {"tokens", "count", "that were compared", none, true}},
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "top1_agreement",
                    .x = "records",
                    .panels = {},
                    .x_title = "recorded answers",
                    .y_title = "same likeliest token"}});
    declare_recorded(fidelity, 6, 60);
    fidelity.variants(&LinkedAnswers::positions);
    return fidelity.runs(run);
}

}  // namespace assay::plato
