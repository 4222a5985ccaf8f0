// assay annotate: a person's words on a session, a night or a sample.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <memory>

#include "suite/base/error.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/store/nights.hpp"
#include "suite/store/store.hpp"

namespace assay::cli {
namespace {

struct AnnotateOptions {
    std::string id, text;
};

/// One or several.
bool names_session_or_sample(const store::Store& store, const std::string& id) {
    for (const store::Session& session : store.sessions())
        if (session.id.starts_with(id)) return true;
    try {
        store.annotations(id);
        return true;
    } catch (const store::StoreError& error) {
        return std::string_view(error.what()).starts_with("several");
    }
}

/// A night is annotated by its session. What is no night's id comes back as it is, for the store to
/// say what is wrong.
std::string subject_of(store::Store& store, const std::string& id) {
    constexpr std::size_t shortest = 4;  // as for sessions
    if (id.size() < shortest) return id;
    std::vector<store::NightRecord> named;
    for (const store::NightRecord& night : store::Nights(store).nights(""))
        if (night.id.starts_with(id)) named.push_back(night);
    if (named.empty()) return id;
    if (named.size() > 1 || names_session_or_sample(store, id))
        throw UserError(fmt::format(
            "'{}' begins the id of more than one night, session or sample: give more of it", id));
    return named.front().session;
}

int annotate(const AnnotateOptions& options, const Context& context) {
    store::Store store =
        options.text.empty() ? open_existing(context) : open_existing_to_write(context);
    const std::string subject = subject_of(store, options.id);
    if (!options.text.empty()) store.annotate(subject, options.text);
    const std::vector<store::Annotation> notes = store.annotations(subject);
    if (notes.empty()) print_line(std::cout, fmt::format("no note on {} yet", options.id));
    for (const store::Annotation& note : notes)
        print_line(std::cout, fmt::format("{}  {}  {}", note.subject.substr(0, 8),
                                          note.at.substr(0, 16), note.text));
    return exit_ok;
}

}  // namespace

void add_annotate_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<AnnotateOptions>();
    CLI::App* command =
        program.add_subcommand("annotate", "Write a note on a session, a night or a sample");
    command->group("Gate");
    command
        ->add_option("id", options->id,
                     "Session, night or sample: its id or the beginning of it; a night's note is "
                     "its session's")
        ->required();
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
