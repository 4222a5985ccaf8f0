#include "suite/report/text/table.hpp"

#include <gtest/gtest.h>

namespace assay::report {
namespace {

struct Level {
    std::string name, session;
    double ratio = 0;
};

const std::vector<Level> levels{{"cpu", "0f8a3c21-77", 1.25}, {"<b>|x\x1b", "", 2}};

Table<Level> table() {
    return {{"name", "baseline", &Level::name},
            {"session", "session", &Level::session, short_id},
            {"ratio", "", &Level::ratio},
            {"", "times", [](const Level& level) { return number(level.ratio) + " ×"; }}};
}

TEST(Table, GivesProgramsWhatIsExact) {
    EXPECT_EQ(table().values(levels)[0].dump(),
              R"({"name":"cpu","ratio":1.25,"session":"0f8a3c21-77"})");
}

TEST(Table, IsEscapedWhereItIsRendered) {
    const Grid grid = table().shown(levels);
    EXPECT_EQ(grid[1], (std::vector<std::string>{"cpu", "0f8a3c21", "1.25 ×"}));
    EXPECT_NE(text_table(grid).find("<b>|x\\x1b"), std::string::npos);
    EXPECT_NE(markdown_table(grid).find("| &lt;b>\\|x\\\\x1b |"), std::string::npos);
    EXPECT_EQ(markdown_cell("`assay run` a\nb & c"), "`assay run` a b &amp; c");
    EXPECT_EQ(markdown_cell("x_live [a](b) _c_"), "x_live \\[a\\](b) \\_c\\_");
}

}  // namespace
}  // namespace assay::report
