// Figs. 5, 7 and 14: tasks whose weights and data the user brings.
#include <fmt/format.h>

#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"
#include "suite/base/error.hpp"

namespace assay::lte {
namespace {

Experiment task_experiment(const std::string& name, const std::string& title,
                           const std::string& where, const std::string& tasks,
                           const std::string& command) {
    Declaration<Task> task(
        {.id = "lte/" + name,
         .title = title,
         .source = "arXiv 2402.06126v4, " + where,
         .says = fmt::format(
             "{}. Neither weights nor data are Assay's to give out: bring them, and a prompt (its "
             "form: impls/lte/recipes/task_questions.hpp): `{}`. A decoder answers with what it "
             "would rather continue the prompt with, after LTE or a rival has been trained on the "
             "corpus; RoBERTa is an encoder, which Assay has not.",
             tasks, command),
         .metrics = declared<TaskFound>(),
         .profiles = training_profiles({}, 3, 600),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "accuracy",
                    .x = "sparsity",
                    .panels = {"model", "task"},
                    .x_title = "sparsity asked for",
                    .y_title = "share answered right"}});
    task.rest.profiles.erase(task.rest.profiles.begin());  // nothing of this takes minutes
    task.unsupported([command](const Task& task) -> std::optional<std::string> {
        if (!task.task)
            return fmt::format("needs weights and a task's data, which nobody has brought: `{}`",
                               command);
        for (const auto& file : {task.task, task.prompt})
            if (file && !std::filesystem::exists(*file))
                return fmt::format("{}: no such file", *file);
        return std::nullopt;
    });
    add_training(task, {"smollm2"});
    task.inputs([](const Task& task) {
        std::vector<Input> files;
        if (task.task) files.push_back({"task", *task.task, ""});
        if (task.prompt) files.push_back({"prompt", *task.prompt, ""});
        return files;
    });
    task.optional_axis("task", &Task::task, "a .tsv or .csv file of questions", "none", {},
                       or_others);
    task.optional_axis("prompt", &Task::prompt, "a file that makes prompts of them", "none", {},
                       or_others);
    task.check([](const Task& task) {
        if (task.task.has_value() != task.prompt.has_value())
            throw UserError("a task and a prompt belong together: -a task=FILE -a prompt=FILE");
    });
    task.part(sparsity_axis({0.5, 0.75, 0.9}));
    add_recipe(task);
    task.variants(&Training::competitor, {Competitor::dense, Competitor::lte,
                                          Competitor::moefication, Competitor::deja_vu});
    return task.runs(answer_task);
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
