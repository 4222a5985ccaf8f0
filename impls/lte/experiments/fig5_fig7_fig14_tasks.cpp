// Figs. 5, 7 and 14: tasks whose weights and data the user brings.
#include <fmt/format.h>

#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/tensor_functions.hpp"
#include "suite/base/error.hpp"

namespace assay::lte {
namespace {

constexpr const char* none = "none";

bool brought(const SampleSpec& spec, const char* axis) {
    return to_string(spec.axes.at(axis)) != none;
}

Experiment task_experiment(const std::string& name, const std::string& title,
                           const std::string& where, const std::string& tasks,
                           const std::string& command) {
    Experiment experiment = training_experiment(name, title, where);
    experiment.says = fmt::format(
        "{}. Neither weights nor data are Assay's to give out: bring them, and a prompt (its form: "
        "impls/lte/recipes/task_questions.hpp): `{}`. A decoder answers with what it would rather "
        "continue the prompt with, after LTE or a rival has been trained on the corpus; RoBERTa is "
        "an encoder, which Assay has not.",
        tasks, command);
    experiment.axes[0].values = {"smollm2"};
    experiment.axes.push_back({"task", "a .tsv or .csv file of questions", {none}, true});
    experiment.axes.push_back({"prompt", "a file that makes prompts of them", {none}, true});
    experiment.axes.push_back(sparsity_axis({0.5, 0.75, 0.9}));
    add_recipe_axis(experiment);
    experiment.variants = {"dense", "lte", "moefication", "deja_vu"};
    experiment.metrics.push_back(
        {"accuracy", "share", "of the questions answered right", Direction::higher, true, {}});
    experiment.metrics.push_back({"questions", "count", "of the task", Direction::none, true, {}});
    experiment.metrics.push_back({"matthews",
                                  "correlation",
                                  "Matthews' (CoLA's metric), of tasks with two answers",
                                  Direction::higher,
                                  true,
                                  {}});
    experiment.profiles = training_profiles({}, 3, 600);
    experiment.profiles.erase(experiment.profiles.begin());  // nothing of this takes minutes
    fix_recipe(experiment);
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "accuracy",
                         .x = "sparsity",
                         .panels = {"model", "task"},
                         .x_title = "sparsity asked for",
                         .y_title = "share answered right"};
    const auto validate = experiment.validate;
    experiment.validate = [validate](const SampleSpec& spec) {
        validate(spec);
        if (brought(spec, "task") != brought(spec, "prompt"))
            throw UserError("a task and a prompt belong together: -a task=FILE -a prompt=FILE");
    };
    const auto otherwise = experiment.unsupported;
    experiment.unsupported = [otherwise,
                              command](const SampleSpec& spec) -> std::optional<std::string> {
        if (!brought(spec, "task"))
            return fmt::format("needs weights and a task's data, which nobody has brought: `{}`",
                               command);
        for (const char* axis : {"task", "prompt"})
            if (const std::string file = to_string(spec.axes.at(axis));
                !std::filesystem::exists(file))
                return fmt::format("{}: no such file", file);
        return otherwise(spec);
    };
    const auto inputs = experiment.inputs;
    experiment.inputs = [inputs](const SampleSpec& spec) {
        auto list = inputs(spec);
        for (const char* axis : {"task", "prompt"})
            if (brought(spec, axis)) list.push_back({axis, to_string(spec.axes.at(axis)), ""});
        return list;
    };
    experiment.run = tensors::run_of(&TensorFunctions::answer_task);
    return experiment;
}

}  // namespace

// Fig. 5: GLUE.
Experiment fig5() {
    return task_experiment(
        "fig5", "Tasks of GLUE", "section 5.2, Fig. 5",
        "The paper sparsifies RoBERTa-large on MRPC, SST-2, QNLI and MNLI",
        "assay run lte/fig5 --profile small -a model=FILE -a corpus=TEXT -a task=./dev.tsv "
        "-a prompt=./prompt.txt");
}

// Fig. 7: MMLU.
Experiment fig7() {
    return task_experiment(
        "fig7", "MMLU after tuning", "section 5.2, Fig. 7",
        "The paper tunes LLaMA2-7B on Tulu and asks it MMLU's questions with five shots",
        "assay run lte/fig7 --profile small -a model=FILE -a corpus=TEXT -a task=./test.csv "
        "-a prompt=./five-shots.txt");
}

// Fig. 14: the rest of GLUE.
Experiment fig14() {
    return task_experiment(
        "fig14", "Further tasks of GLUE", "appendix, Fig. 14",
        "The paper sparsifies both sizes of RoBERTa on RTE, CoLA, QQP and STS-B; the last is a "
        "regression, which has no answers to choose from",
        "assay run lte/fig14 --profile small -a model=FILE -a corpus=TEXT -a task=./dev.tsv "
        "-a prompt=./prompt.txt");
}

}  // namespace assay::lte
