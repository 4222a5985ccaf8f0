// assay export --to: which sessions a time on the command line takes.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "suite/base/error.hpp"
#include "suite/cli/command.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::import_export::testing {
namespace {

using store::Access;
using store::Store;
using store::testing::Folder;

/// Runs the command; returns what it complains about.
std::string export_of(const Folder& folder, std::vector<std::string> arguments) {
    const Registry registry;
    cli::Context context{registry, "", folder / "a.db", {}};
    CLI::App program;
    cli::add_export_command(program, context);
    arguments.insert(arguments.begin(), "export");
    std::reverse(arguments.begin(), arguments.end());  // what CLI11 wants
    try {
        program.parse(arguments);
        context.action();
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

TEST(ExportCommand, SinceIsADateOrASpanAndNothingElse) {
    Folder folder;
    {
        auto store = Store::open(folder / "a.db", Access::write);
        for (const auto& started : {std::string("2020-01-01T00:00:00.000Z"), store::now_utc()}) {
            const auto session = store::testing::begin(store, started);
            store::testing::add_sample(store, session, store::testing::example_spec(1));
            store.finish_session(session, "finished");
        }
    }
    const auto exported = [&](const char* since) {
        const auto to = folder / since;
        const auto complaint = export_of(folder, {"--since", since, "--to", to.string() + ".db"});
        if (!complaint.empty()) return complaint;
        return std::to_string(Store::open(to.string() + ".db", Access::read).sessions().size());
    };
    EXPECT_EQ(exported("7d"), "1");
    EXPECT_EQ(exported("2019-12-31"), "2");
    EXPECT_NE(exported("last week").find("is no time"), std::string::npos);
}

}  // namespace
}  // namespace assay::import_export::testing
