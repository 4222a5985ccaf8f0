// The drawing of a node count over time.
#include <gtest/gtest.h>

#include "suite/report/text/availability_drawing.hpp"

namespace assay::report {
namespace {

// 24 columns of 5 s each beside the labels.
std::string drawn(const CountCurve& curve) { return draw_counts(curve, 30); }

TEST(TraceDrawing, ColumnsAreAsHighAsTheFewestNodesInTheirTime) {
    // The dip from 31 to 32 s lies inside the seventh column (30 to 35 s).
    const CountCurve curve{120, {0, 31, 32, 60}, {2, 1, 2, 1}, {{31, 1}, {60, 1}, {62, 9}}};
    EXPECT_EQ(drawn(curve),
              "   2 ┤██████ █████\n"
              "   1 ┤████████████████████████\n"
              "   0 └┬───────────┬───────────\n"
              "      0           60 s\n"
              " lost       1     10\n");
}

TEST(TraceDrawing, NumbersOfLossesStandApartBelowTheirColumns) {
    const CountCurve curve{120, {0}, {30}, {{0, 12}, {10, 4}, {15, 1}, {21, 3}, {26, 2}, {115, 7}}};
    const std::string text = drawn(curve);
    EXPECT_EQ(text.substr(text.find(" lost")),
              " lost 12 1 2                 7\n"
              "        4 3\n");
}

TEST(TraceDrawing, EighthsShowWhatLiesBetweenRows) {
    const CountCurve curve{240, {0, 120}, {32, 18}, {{120, 14}}};
    const std::string text = drawn(curve);
    EXPECT_EQ(text.substr(0, text.find('\n')), "  32 ┤████████████");
    // 18 of 32 in rows of 4: half of the fifth from below.
    EXPECT_NE(text.find("     │████████████▄▄▄▄▄▄▄▄▄▄▄▄\n  16 ┤"), std::string::npos) << text;
    EXPECT_NE(text.find("      0           2 min\n"), std::string::npos) << text;
}

TEST(TraceDrawing, OddCurvesAreDrawnToo) {
    EXPECT_NE(drawn({0, {0}, {0}, {}}).find("   0 └"), std::string::npos);
    EXPECT_NE(drawn({1e9, {0}, {3}, {}}).find(" h\n"), std::string::npos);
    EXPECT_NE(draw_counts({9, {0, 9}, {1, 2}, {}}, 0).find("   2 ┤"), std::string::npos);
}

}  // namespace
}  // namespace assay::report
