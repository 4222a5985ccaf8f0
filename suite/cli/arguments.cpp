#include "suite/cli/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <memory>

#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"
#include "suite/base/quantity_text.hpp"
#include "suite/cli/terminal/help_format.hpp"
#include "suite/measure/build_info.hpp"

namespace assay::cli {
namespace {

constexpr std::size_t man_columns = 72;

/// Commands in the order in which they were typed, the program first.
std::vector<CLI::App*> typed_commands(CLI::App& program) {
    std::vector<CLI::App*> commands{&program};
    while (!commands.back()->get_subcommands().empty())
        commands.push_back(commands.back()->get_subcommands().front());
    return commands;
}

/// The option that CLI11 complains of, where it was given whole numbers; it tells only in words.
CLI::Option* at_fault(CLI::App& program, const CLI::ParseError& error) {
    const std::string says = error.what();
    for (CLI::App* command : typed_commands(program))
        for (CLI::Option* option : command->get_options()) {
            const std::vector<std::string>& values = option->results();
            const std::string name = option->get_name();
            if ((says.starts_with("Could not convert: " + name + " = ") ||
                 says.starts_with(name + ": ")) &&
                !values.empty() &&
                std::all_of(values.begin(), values.end(),
                            [](const std::string& text) { return whole_number(text).has_value(); }))
                return option;
        }
    return nullptr;
}

/// Null: it has no such, or hides it.
const CLI::App* subcommand(const CLI::App& command, std::string_view name) {
    for (const CLI::App* each : command.get_subcommands({}))
        if (each->get_name() == name && !each->get_group().empty()) return each;
    return nullptr;
}

/// Null: none, or it is a flag.
const CLI::Option* takes_value(const CLI::Option* option) {
    return option != nullptr && option->get_items_expected_max() > 0 ? option : nullptr;
}

template <Named E>
std::vector<std::string> every_word() {
    std::vector<std::string> words;
    for (const E value : values_of<E>) words.emplace_back(word_of(value));
    return words;
}

/// Of an option that takes one of some words: CLI11 keeps them as "TEXT:{toy,small}".
std::vector<std::string> listed_values(const CLI::Option& option) {
    if (option.check_lname("profile")) return every_word<Profile>();
    if (option.check_lname("mode")) return every_word<Provenance>();
    const std::string type = option.get_type_name();
    const std::size_t begin = type.find('{'), end = type.find('}');
    if (begin == std::string::npos || end == std::string::npos) return {};
    return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

std::vector<std::string> long_options(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
        if (!option->get_group().empty())
            for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

/// Ids of what the command's arguments name.
std::vector<std::string> named_by_positionals(const CLI::App& command, const Registry& registry) {
    std::vector<std::string> ids;
    for (const CLI::Option* option : command.get_options()) {
        const std::string name = option->get_positional() ? option->get_name(true) : "";
        for (const System& system : registry.systems()) {
            if (name == "systems") ids.push_back(system.id);
            for (const char* of_experiments :
                 {"experiment", "experiments", "pattern", "patterns", "series"})
                if (name == of_experiments)
                    for (const Experiment& experiment : system.experiments)
                        ids.push_back(experiment.id);
        }
    }
    return ids;
}

/// What roff takes for escapes and requests, as text.
std::string as_roff(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
        if (c == '\\' || c == '-') out += '\\';
        out += c == '\\' ? 'e' : c;
    }
    return out;
}

std::string literally(const std::string& text) { return ".nf\n" + as_roff(text) + ".fi\n"; }

/// The commands below this one. `path`: how it is called.
std::string sections(CLI::App& command, const std::string& path) {
    std::string out;
    for (CLI::App* each : command.get_subcommands({})) {
        if (each->get_group().empty()) continue;
        const std::string name = path + ' ' + each->get_name();
        each->formatter(std::make_shared<HelpFormat>(man_columns));
        out += ".SS " + as_roff(name) + '\n' + literally(each->help(path)) + sections(*each, name);
    }
    return out;
}

}  // namespace

std::vector<std::string> visible_subcommands(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({}))
        if (!command->get_group().empty()) names.push_back(command->get_name());
    return names;
}

std::string unknown_command_sentence(const std::string& path, const std::string& typed,
                                     const std::vector<std::string>& names) {
    const auto nearest = nearest_id(typed, names);
    return fmt::format("`{}` has no '{}'; {}known: {}", path, typed,
                       nearest ? fmt::format("did you mean '{}'? ", *nearest) : "",
                       fmt::join(names, ", "));
}

std::vector<char*> without_help_command(const CLI::App& program, int argc, char** argv) {
    std::vector<char*> arguments(argv, argv + argc);
    if (argc < 2 || std::string_view(argv[1]) != "help") return arguments;
    const CLI::App* command = &program;
    std::string path = program.get_name();
    arguments.resize(1);
    for (int i = 2; i < argc; ++i) {
        const std::vector<std::string> names = visible_subcommands(*command);
        if (names.empty() || *argv[i] == '-') break;
        command = subcommand(*command, argv[i]);
        if (command == nullptr) throw UserError(unknown_command_sentence(path, argv[i], names));
        path += ' ' + command->get_name();
        arguments.push_back(argv[i]);
    }
    static char help[] = "--help";
    arguments.push_back(help);
    return arguments;
}

void parse(CLI::App& program, int argc, const char* const* argv) {
    // CLI11 reads integers in digits only. That it refuses others is all that tells such an option
    // from one to which "1e3" is a name.
    for (CLI::Option* last = nullptr;;) {
        try {
            return program.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            CLI::Option* const option = at_fault(program, error);
            if (option == nullptr || option == last) throw;
            option->transform([](const std::string& text) {
                const auto number = whole_number(text);
                return number ? std::to_string(*number) : text;
            });
            last = option;
        }
    }
}

std::string completions(const CLI::App& program, const Registry& registry,
                        const std::vector<std::string>& words) {
    if (words.empty()) return {};
    const CLI::App* command = &program;
    const CLI::Option* open = nullptr;  // an option whose value comes next
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "=") continue;  // of "--option=value", as bash takes it apart
        if (open == nullptr && word.starts_with('-'))
            open = takes_value(command->get_option_no_throw(word));
        else if (open != nullptr)
            open = nullptr;
        else if (const CLI::App* next = subcommand(*command, word))
            command = next;
    }
    std::string begun = words.back() == "=" ? "" : words.back();
    std::string before;  // what a candidate repeats of the word
    if (const std::size_t equals = begun.find('=');
        begun.starts_with("--") && equals != begun.npos) {
        before = begun.substr(0, equals + 1);
        open = takes_value(command->get_option_no_throw(begun.substr(0, equals)));
    }
    std::vector<std::string> candidates;
    if (open != nullptr)
        candidates = listed_values(*open);
    else if (begun.starts_with('-'))
        candidates = long_options(*command);
    else if (candidates = visible_subcommands(*command); candidates.empty())
        candidates = named_by_positionals(*command, registry);
    std::string out;
    for (const std::string& candidate : candidates)
        if ((before + candidate).starts_with(begun)) out += before + candidate + '\n';
    return out;
}

std::string man_page(CLI::App& program) {
    program.formatter(std::make_shared<HelpFormat>(man_columns));
    return ".TH ASSAY 1 \"\" \"assay " + as_roff(measure::build_info().version) +
           "\" \"User Commands\"\n"
           ".SH NAME\nassay \\- benchmark and reproduction suite for LLM systems\n"
           ".SH SYNOPSIS\n.B assay\nCOMMAND [OPTIONS]\n"
           ".SH DESCRIPTION\n" +
           literally(program.help()) + ".SH COMMANDS\n" + sections(program, program.get_name()) +
           ".SH ENVIRONMENT\n"
           ".TP\n.B ASSAY_DB\nresults database, where \\-\\-db names none\n"
           ".TP\n.B ASSAY_DATA\nfolder of corpora, traces and models; else assay/data below the "
           "XDG data folder\n"
           ".TP\n.B ASSAY_DATASETS\nfolder of claims, scenarios and profiles, in place of the one "
           "installed with the program\n";
}

}  // namespace assay::cli
