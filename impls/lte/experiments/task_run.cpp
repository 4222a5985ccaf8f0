// fig5, fig7, fig14: tasks of the user's, answered by what a model would rather continue with.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "impls/lte/experiments/on_workbench.hpp"
#include "impls/lte/recipes/task_questions.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/text/tokenizer.hpp"

namespace assay::lte {
namespace {

nn::Tokenizer tokenizer_of(const Sizes& sizes) {
    if (sizes.weights.empty()) return nn::Tokenizer::bytes();
    return nn::Tokenizer::of(nn::TensorFile(fetched(sizes.weights)));
}

/// Nats of an answer behind its prompt, of which the beginning is left out where both are longer
/// than the model's context.
double nats_of(Workbench& bench, nn::FeedForward& ffn, const nn::Tokenizer& tokenizer,
               const std::string& prompt, const std::string& answer) {
    const at::NoGradGuard no_grad;
    auto ids = tokenizer.encode(prompt + answer);
    const auto scored = std::max<std::size_t>(tokenizer.encode(answer).size(), 1);
    const auto most = static_cast<std::size_t>(bench.sizes().model.context) + 1;
    if (ids.size() > most) ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(most));
    const auto tokens = at::tensor(ids, at::kLong).unsqueeze(0);
    auto targets = tokens.narrow(1, 1, tokens.size(1) - 1).clone();
    const auto prompted = targets.size(1) - static_cast<std::int64_t>(scored);
    if (prompted > 0) targets.narrow(1, 0, prompted).fill_(-1);
    return bench.decoder()
        .loss(tokens.to(bench.device()), ffn, compute_type(bench.sizes()),
              targets.to(bench.device()))
        .item<double>();
}

/// Matthews' correlation of two classes; 0 where one is never answered, or never right.
double matthews(const std::vector<std::size_t>& answered, const std::vector<Question>& questions) {
    double counts[2][2] = {};
    for (std::size_t i = 0; i < answered.size(); ++i) ++counts[questions[i].right][answered[i]];
    const double right = counts[1][1] * counts[0][0] - counts[0][1] * counts[1][0];
    const double scale = std::sqrt((counts[1][1] + counts[0][1]) * (counts[1][1] + counts[1][0]) *
                                   (counts[0][0] + counts[0][1]) * (counts[0][0] + counts[1][0]));
    return scale > 0 ? right / scale : 0;
}

}  // namespace

void run(const Task& task, Recorder& recorder) {
    const auto questions = read_questions(task.task.value(), task.prompt.value());
    on_workbench(task, recorder, [&](Workbench& bench) {
        SparseModel model = make_competitor(bench, task);
        const TaskFound found(recorder);
        record(measure(bench, model), found);
        const nn::Tokenizer tokenizer = tokenizer_of(bench.sizes());
        std::vector<std::size_t> answered;
        double right = 0;
        for (const Question& question : questions) {
            double least = std::numeric_limits<double>::infinity();
            answered.push_back(0);
            for (std::size_t i = 0; i < question.answers.size(); ++i) {
                const double nats =
                    nats_of(bench, *model.ffn, tokenizer, question.prompt, question.answers[i]);
                if (nats >= least) continue;
                least = nats;
                answered.back() = i;
            }
            right += answered.back() == question.right;
            recorder.progress(
                static_cast<double>(answered.size()) / static_cast<double>(questions.size()),
                "questions");
        }
        found.accuracy(right / static_cast<double>(questions.size()));
        found.questions(questions.size());
        if (questions.front().answers.size() == 2) found.matthews(matthews(answered, questions));
    });
}

const tensors::Provided provided_task(answer_task, run);

}  // namespace assay::lte
