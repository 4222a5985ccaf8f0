// assay annotate: a person's words on a session or a sample.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <memory>

#include "suite/base/error.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/store/store.hpp"

namespace assay::cli {
namespace {

struct AnnotateOptions {
    std::string id, text;
};

int annotate(const AnnotateOptions& options, const Context& context) {
    if (!options.text.empty()) {
        store::Store store = open_existing_to_write(context);
        store.annotate(options.id, options.text);
    }
    const store::Store store = open_existing(context);
    for (const store::Annotation& note : store.annotations(options.id))
        std::cout << fmt::format("{}  {}  {}\n", note.subject.substr(0, 8), note.at.substr(0, 16),
                                 note.text);
    return exit_ok;
}

}  // namespace

void add_annotate_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<AnnotateOptions>();
    CLI::App* command = program.add_subcommand("annotate", "Write a note on a session or a sample");
    command->group("Gate");
    command->add_option("id", options->id, "Session or sample, or a prefix of its id")->required();
    command->add_option("text", options->text, "The note; without it, the notes there are");
    add_database_option(*command, context);
    command->footer(
        "What has a note is never pruned.\n"
        "Example:\n  assay annotate 1a2b3c4d 'new power supply'");
    command->callback([options, &context] {
        context.action = [options, &context] { return annotate(*options, context); };
    });
}

}  // namespace assay::cli
