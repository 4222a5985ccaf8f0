// A proxy for the paper's judged quality: how well the recorded answers can be foreseen from the
// context that each mode gives a node.
#include <numeric>

#include "impls/plato/experiments/experiments.hpp"
#include "impls/plato/experiments/recorded_plans.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::plato {
namespace {

constexpr int at_once = 4;

/// Of all nodes, in order.
std::vector<double> nats(const LiveModel& model, const std::vector<QuestionTokens>& questions,
                         Mode mode) {
    const LiveRun run = model.run(questions, {.answer = {.mode = mode}, .concurrency = at_once});
    std::vector<double> all;
    for (const auto& of_answer : nats_per_token(run))
        all.insert(all.end(), of_answer.begin(), of_answer.end());
    return all;
}

/// Every node after all before it: what an answer without a plan would have before it, with titles.
std::vector<QuestionTokens> one_after_the_other(std::vector<QuestionTokens> questions) {
    for (QuestionTokens& question : questions)
        for (std::size_t i = 0; i < question.plan.nodes.size(); ++i) {
            auto& dependencies = question.plan.nodes[i].dependencies;
            dependencies.resize(i);
            std::iota(dependencies.begin(), dependencies.end(), 1);
        }
    return questions;
}

struct Quality : Recorded {
    Mode rival{};
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric net_win_rate = exact("net_win_rate", "share",
                                "of Plato's over the rival's prompts, all nodes; a proxy", higher);
    Metric sign_test_p = exact("sign_test_p", "probability", "of so uneven a split by a fair coin");
    Metric dependent_net_win_rate =
        exact("dependent_net_win_rate", "share", "… of nodes that depend on others", higher);
    Metric dependent_sign_test_p =
        exact("dependent_sign_test_p", "probability", "… of nodes that depend on others");
    Metric plato_nats =
        exact("plato_nats", "nats/token", "of the recorded answers: mean over nodes", lower);
    Metric rival_nats = exact("rival_nats", "nats/token", "… behind the rival's prompts", lower);
    Metric nodes = exact("nodes", "count", "that were compared");
};

void run(const Quality& quality, Recorder& recorder) {
    const LiveModel model;
    const auto questions = recorded_tokens(quality.answers(), model.tokenizer());
    const auto plato = nats(model, questions, Mode::plato);
    const auto rival = quality.rival == Mode::ar
                           ? nats(model, one_after_the_other(questions), Mode::plato_nopipe)
                           : nats(model, questions, Mode::sot);
    const auto mean = [](const std::vector<double>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0) /
               static_cast<double>(values.size());
    };
    const SignTest all = sign_test(plato, rival);
    std::vector<double> ours, theirs;  // of nodes that depend on others
    std::size_t at = 0;
    for (const QuestionTokens& question : questions)
        for (const NodeRecord& node : question.plan.nodes) {
            if (!node.dependencies.empty()) {
                ours.push_back(plato[at]);
                theirs.push_back(rival[at]);
            }
            ++at;
        }
    const SignTest dependent = sign_test(ours, theirs);
    const Found found(recorder);
    found.net_win_rate(all.net_win_rate());
    found.sign_test_p(all.p());
    found.dependent_net_win_rate(dependent.net_win_rate());
    found.dependent_sign_test_p(dependent.p());
    found.plato_nats(mean(plato));
    found.rival_nats(mean(rival));
    found.nodes(plato.size());
}

}  // namespace

Experiment quality() {
    Declaration<Quality> quality(
        {.id = "plato/quality",
         .title = "How well context foresees recorded answers: a proxy for quality",
         .source = "arXiv 2402.12280v2, abstract, whose answers were judged; ours are not",
         .says = "NOT the paper's win rates: nobody judges anything here. The recorded answers of "
                 "nodes (datasets/plans, our own text) are given to SmolLM2-135M-Instruct word for "
                 "word, once behind the answers that Plato's prompts have, once behind a rival's: "
                 "ar: all sections before; sot: its own instruction and the whole skeleton, no "
                 "answer. A node is won where its text is likelier; the net win rate is wins less "
                 "losses over all, with the sign test's p. It says whether the answers of "
                 "dependencies help to foresee the text, no more.",
         .metrics = declared<Found>(),
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "net_win_rate",
                    .x = "records",
                    .panels = {},
                    .x_title = "recorded answers",
                    .y_title = "net win rate by likelihood"}});
    declare_recorded(quality, 8, 90);
    quality.variants(&Quality::rival, {Mode::ar, Mode::sot});
    return quality.runs(run);
}

}  // namespace assay::plato
