// A proxy for the paper's judged quality: how well the recorded answers can be foreseen from the
// context that each mode gives a node.
#include <numeric>

#include "impls/plato/experiments/experiments.hpp"
#include "impls/plato/experiments/recorded_plans.hpp"
#include "suite/experiment/recorder.hpp"

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

void run(const SampleSpec& spec, Recorder& recorder) {
    const LiveModel model(spec);
    const auto questions = recorded_tokens(
        recorded_answers(static_cast<int>(integer_axis(spec, "records"))), model.tokenizer());
    const auto plato = nats(model, questions, Mode::plato);
    const auto rival = spec.variant == "ar"
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
    recorder.metric("net_win_rate", all.net_win_rate());
    recorder.metric("sign_test_p", all.p());
    recorder.metric("dependent_net_win_rate", dependent.net_win_rate());
    recorder.metric("dependent_sign_test_p", dependent.p());
    recorder.metric("plato_nats", mean(plato));
    recorder.metric("rival_nats", mean(rival));
    recorder.metric("nodes", static_cast<double>(plato.size()));
}

}  // namespace

Experiment quality() {
    Experiment experiment;
    experiment.id = "plato/quality";
    experiment.title = "How well context foresees recorded answers: a proxy for quality";
    experiment.source = "arXiv 2402.12280v2, abstract, whose answers were judged; ours are not";
    experiment.says =
        "NOT the paper's win rates: nobody judges anything here. The recorded answers of nodes "
        "(datasets/plans, our own text) are given to SmolLM2-135M-Instruct word for word, once "
        "behind the answers that Plato's prompts have, once behind a rival's: ar: all sections "
        "before; sot: its own instruction and the whole skeleton, no answer. A node is won where "
        "its text is likelier; the net win rate is wins less losses over all, with the sign test's "
        "p. It says whether the answers of dependencies help to foresee the text, no more.";
    experiment.variants = {"ar", "sot"};
    using enum Direction;
    experiment.metrics = {
        {"net_win_rate", "share", "of Plato's over the rival's prompts, all nodes; a proxy", higher,
         true},
        {"sign_test_p", "probability", "of so uneven a split by a fair coin", none, true},
        {"dependent_net_win_rate", "share", "… of nodes that depend on others", higher, true},
        {"dependent_sign_test_p", "probability", "… of nodes that depend on others", none, true},
        {"plato_nats", "nats/token", "of the recorded answers: mean over nodes", lower, true},
        {"rival_nats", "nats/token", "… behind the rival's prompts", lower, true},
        {"nodes", "count", "that were compared", none, true}};
    declare_recorded(experiment, 8, 90);
    experiment.figure = {.kind = Figure::Kind::bars,
                         .metric = "net_win_rate",
                         .x = "records",
                         .panels = {},
                         .x_title = "recorded answers",
                         .y_title = "net win rate by likelihood"};
    experiment.run = run;
    return experiment;
}

}  // namespace assay::plato
