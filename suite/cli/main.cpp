// The command line: the list of all commands, and how errors become sentences and exit codes.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>

#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/cli/arguments.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/terminal/help_format.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/gate/benchmark_experiment.hpp"
#include "suite/measure/build_info.hpp"
#include "suite/reference_workload/reference_workload.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::cli {
namespace {

constexpr AddCommand commands[] = {
    add_run_command,         add_highlights_command, add_reproduce_command, add_replay_command,
    add_list_command,        add_describe_command,   add_plan_command,      add_compare_command,
    add_versus_command,      add_nightly_command,    add_baseline_command,  add_qualify_command,
    add_regressions_command, add_mute_commands,      add_annotate_command,  add_headlines_command,
    add_claims_command,      add_report_command,     add_gui_command,       add_history_command,
    add_export_command,      add_import_command,     add_db_command,        add_data_command,
    add_doctor_command,      add_calibrate_command,  add_campaign_command,  add_tool_commands,
    add_sample_command,
};

/// An option that none of the commands has, with the one that was meant; empty: there is none.
std::string unknown_option_sentence(const std::vector<const CLI::App*>& commands,
                                    const std::string& path, int argc, char** argv) {
    std::vector<std::string> known;
    for (const CLI::App* command : commands)
        for (const CLI::Option* option : command->get_options())
            for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
        const std::string typed = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
        if (!typed.starts_with("--") || typed.size() < 3) continue;
        if (std::find(known.begin(), known.end(), typed) != known.end()) continue;
        const auto nearest = nearest_id(typed, known);
        return fmt::format("`{}` has no option {}; {}`{} --help` explains", path, typed,
                           nearest ? fmt::format("did you mean {}? ", *nearest) : "", path);
    }
    return {};
}

/// What CLI11 says, as one of our sentences.
std::string usage_sentence(const CLI::App& program, const CLI::ParseError& error, int argc,
                           char** argv) {
    std::string path = "assay";
    std::vector<const CLI::App*> commands{&program};
    int next = 1;  // the first argument after the commands that were understood
    while (!commands.back()->get_subcommands().empty()) {
        commands.push_back(commands.back()->get_subcommands().front());
        path += ' ' + commands.back()->get_name();
        ++next;
    }
    const CLI::App* const at_fault = commands.back();
    const std::vector<std::string> names = visible_subcommands(*at_fault);
    if (!names.empty() && next < argc && argv[next][0] != '-')
        return unknown_command_sentence(path, argv[next], names);
    // Also where CLI11 complains of what is missing: it was given under another name.
    if (std::string sentence = unknown_option_sentence(commands, path, argc, argv);
        !sentence.empty())
        return sentence;
    std::string text = error.what();
    while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
    return fmt::format("{}; `{} --help` explains", text, path);
}

/// An argument that is empty, mostly by a variable of a script that is not set. No option means
/// anything by it, and to take it for "not given" would compare with another baseline or write no
/// report. Asked whether or not the command line could be parsed. Empty: there is none.
std::string empty_value_sentence(const CLI::App& program, int argc, char** argv) {
    const auto sentence = [](const std::string& what) {
        return fmt::format(
            "{} is empty: leave it out or give it a value (is a variable of a script not set?)",
            what);
    };
    for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
        const std::string_view typed = argv[i];  // CLI11 takes the next argument for its value
        if (typed.starts_with("--") && typed.find('=') == typed.size() - 1)
            return sentence(std::string(typed.substr(0, typed.size() - 1)));
    }
    const auto name_of = [](const CLI::Option& option) {
        if (option.get_positional()) return fmt::format("the argument '{}'", option.get_name(true));
        return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front();
    };
    for (const CLI::App* app = &program; app != nullptr;) {
        for (const CLI::Option* option : app->get_options())
            for (const std::string& value : option->results())
                if (value.empty()) return sentence(name_of(*option));
        const std::vector<CLI::App*> next = app->get_subcommands();
        app = next.empty() ? nullptr : next.front();
    }
    for (int i = 1; i < argc; ++i)
        if (*argv[i] == '\0') return sentence(fmt::format("argument {}", i));
    return {};
}

/// Lines of ours that go on are indented; a name that others chose begins none.
std::string indented_lines(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find("\n  ", at), text.size());
        out += (at == 0 ? "" : "\n") + report::printable(text.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

int complain(const std::exception& error, ExitCode code) {
    std::cout.flush();
    std::cerr << "assay: " + indented_lines(error.what()) << std::endl;
    return code;
}

/// What --version prints: version, commit, compiler, and each optional part that this build lacks.
std::string version_text() {
    const measure::BuildInfo info = measure::build_info();
    std::string text = fmt::format("assay {}", info.version);
    if (!info.commit.empty()) text += fmt::format(", commit {}", info.commit);
    text += fmt::format("\nbuilt by {}, {}", info.compiler, info.build_type);
    if (!info.torch.empty()) text += fmt::format(", with libtorch {}", info.torch);
    text += fmt::format("\nbuild id {}", measure::build_id());
    for (const measure::BuildPart& part : info.parts)
        if (part.state != measure::BuildPart::State::built_in)
            text += fmt::format("\nwithout {}: {}", part.name, part.says);
    return text;
}

/// The exit code of a command that is done. What nobody could read is no verdict.
int after_printing(int code) {
    std::cout.flush();
    if (std::cout && std::ferror(stdout) == 0) return code;
    return complain(UserError("cannot write to standard output: is it closed, or the disk full?"),
                    exit_error);
}

/// A file that is opened later would become standard output if that is closed, and what is printed
/// be written into it. This way, printing fails.
void hold_closed_streams() {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
        if (::fcntl(stream, F_GETFD) < 0)
            ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // the lowest free number
}

/// Runs what was parsed.
int act(const Context& context) {
    try {
        return after_printing(context.action());
    } catch (const NotSupportedHere& error) {
        return complain(error, exit_not_supported);
    } catch (const std::exception& error) {
        return complain(error, exit_error);
    }
}

int parse_and_act(CLI::App& program, const Context& context, int argc, char** argv) {
    try {
        parse(program, argc, argv);
    } catch (const CLI::Success& success) {  // --help, --version
        return after_printing(program.exit(success) == 0 ? exit_ok : exit_error);
    } catch (const CLI::ParseError& error) {
        if (argc <= 1) {
            std::cerr << program.help();
            return exit_error;
        }
        std::string sentence = empty_value_sentence(program, argc, argv);
        if (sentence.empty()) sentence = usage_sentence(program, error, argc, argv);
        return complain(UserError(sentence), exit_error);
    } catch (const std::exception& error) {
        return complain(error, exit_error);
    }
    if (const std::string sentence = empty_value_sentence(program, argc, argv); !sentence.empty())
        return complain(UserError(sentence), exit_error);
    if (!context.lacks.empty() && !program.got_subcommand("doctor"))
        return complain(UserError(context.lacks), exit_error);
    suggest_database(context.database.string());
    return act(context);
}

}  // namespace

int main(int argc, char** argv, Registry registry, const std::string& lacks) {
    hold_closed_streams();
    const PrintableOutput printable_output;
    // A reader that closes our output early (`assay … | head`) ends the program as usual.
    std::signal(SIGPIPE, SIG_DFL);
    registry.add(reference_workload::make_system());
    registry.add(gate::make_benchmark_system());
    Context context{registry, shell_quoted(argc, argv), {}, {}};
    if (argc > 0) context.program = shell_quoted(argv[0]);
    context.lacks = lacks;
    CLI::App program(
        "Assay reproduces the figures and tables of papers on LLM systems, under failures, and\n"
        "says for each claim what the paper reports, what we got, how, and whether it holds.",
        "assay");
    program.formatter(std::make_shared<HelpFormat>(text_columns()));
    program.set_version_flag(
        "--version", [] { return version_text(); }, "Version, build, what it lacks");
    program.require_subcommand(1);
    for (const AddCommand add : commands) add(program, context);
    program.footer(  // last: commands without one would inherit it
        "Examples:\n"
        "  assay list                # what can be reproduced\n"
        "  assay highlights          # what is worth seeing first, in a minute\n"
        "  assay run lazarus/fig8    # one figure, a few seconds\n"
        "  assay reproduce           # everything at profile toy, with a report\n"
        "  assay headlines           # the papers' numbers beside ours\n"
        "  assay claims              # what holds and what does not\n"
        "  assay help run            # a command's options and examples\n"
        "Exit codes: 0 ok, 1 usage or infrastructure, 2 regression or contradicted claim "
        "(--gate),\n"
        "            3 ambiguous, 4 not supported here.");
    const std::string_view first = argc > 1 ? argv[1] : "";
    if (first == "complete") {  // for the completions of shells
        std::cout << completions(program, registry, {argv + 2, argv + argc});
        return after_printing(exit_ok);
    }
    if (first == "man") {  // for the installation
        std::cout << man_page(program);
        return after_printing(exit_ok);
    }
    try {
        std::vector<char*> arguments = without_help_command(program, argc, argv);
        return parse_and_act(program, context, static_cast<int>(arguments.size()),
                             arguments.data());
    } catch (const UserError& error) {
        return complain(error, exit_error);
    }
}

}  // namespace assay::cli
