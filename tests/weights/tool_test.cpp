// assay weights diff and apply.
#include "impls/weights/tool/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "tests/base/temporary_folder.hpp"
#include "tests/weights/weights_files.hpp"

namespace assay::weights {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class WeightsTool : public ::testing::Test {
  protected:
    WeightsTool() {
        std::mt19937_64 random(6);
        const Tensors tensors = random_tensors(random);
        const Tensors changed = changed_at_random(tensors, 0.1, random);
        write_raw(path("old"), file_of(tensors, 1));
        write_raw(path("new"), file_of(changed));
        expected_ = file_of(changed, 1);
        changed_ = naive_delta(version_of(tensors), version_of(changed)).offsets.size();
    }

    std::string path(const char* name) const { return (folder_ / name).string(); }

    /// What it prints; nothing where it throws.
    static std::string output(const std::string& subcommand, std::vector<std::string> arguments) {
        const Tool tool = make_weights_tool();
        const auto found = std::ranges::find(tool.subcommands, subcommand, &Tool::Subcommand::name);
        CLI::App app;
        found->command->options(app);
        std::ranges::reverse(arguments);
        app.parse(arguments);
        ::testing::internal::CaptureStdout();
        try {
            EXPECT_EQ(found->command->run(), 0);
        } catch (...) {
            EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
            throw;
        }
        return ::testing::internal::GetCapturedStdout();
    }
    void expect_refused(const std::string& subcommand, const std::vector<std::string>& arguments,
                        const std::string& part) const {
        const auto before = names_in(folder_.path());
        try {
            output(subcommand, arguments);
            ADD_FAILURE() << part;
        } catch (const UserError& error) {
            EXPECT_THAT(error.what(), HasSubstr(part));
        }
        EXPECT_EQ(names_in(folder_.path()), before) << part;
    }

    assay::testing::TemporaryFolder folder_;
    Raw expected_;
    std::size_t changed_ = 0;
};

TEST_F(WeightsTool, ThereAndBack) {
    const nlohmann::json expected{
        {"elements", 641}, {"changed", changed_}, {"bytes", 16 + 6 * changed_}};
    EXPECT_EQ(nlohmann::json::parse(
                  output("diff", {path("old"), path("new"), "--out", path("delta"), "--json"})),
              expected);
    EXPECT_EQ(fs::file_size(path("delta")), 16 + 6 * changed_);
    EXPECT_EQ(nlohmann::json::parse(output(
                  "apply", {path("old"), path("delta"), "--out", path("updated"), "--json"})),
              expected);
    EXPECT_EQ(read_raw(path("updated")), expected_);
    EXPECT_THAT(output("apply", {path("old"), path("delta"), "--out", path("old")}),
                HasSubstr("changed  " + std::to_string(changed_) + " of 641 elements ("));
    EXPECT_EQ(read_raw(path("old")), expected_);
    EXPECT_EQ(output("diff", {path("old"), path("new"), "--out", path("delta")}),
              "changed  0 of 641 elements (0.00 %)\ndelta    16 B; the weights have 1.28 kB\n");
}

TEST_F(WeightsTool, Refusals) {
    const std::string old = path("old"), now = path("new");
    expect_refused("diff", {old, now, "--out", "-"}, "--out -: this is no text");
    expect_refused("diff", {old, now, "--out", old}, "which it would replace");
    expect_refused("diff", {old, now, "--out", now}, "which it would replace");
    expect_refused("diff", {old, now, "--out", folder_.path()}, "that is a folder");
    expect_refused("diff", {old, now, "--out", path("absent/delta")}, "mkdir -p");
    expect_refused("diff", {old, now, "--out", "/dev/null"}, "no regular file");
    expect_refused("diff", {old, path("absent"), "--out", path("delta")}, "cannot be opened");
    expect_refused("diff", {old, folder_.path(), "--out", path("delta")}, "not a regular file");
    output("diff", {old, now, "--out", path("delta")});
    expect_refused("diff", {old, path("delta"), "--out", path("d")}, "not a safetensors file");
    expect_refused("apply", {old, path("delta"), "--out", path("delta")}, "would replace");
    expect_refused("apply", {old, now, "--out", path("updated")}, now + ": ");
    expect_refused("apply", {path("delta"), path("delta"), "--out", path("updated")},
                   "not a safetensors file");
    EXPECT_THROW(output("diff", {old, now}), CLI::RequiredError);
    EXPECT_THROW(output("apply", {old, "--out", path("updated")}), CLI::RequiredError);
}

}  // namespace
}  // namespace assay::weights
