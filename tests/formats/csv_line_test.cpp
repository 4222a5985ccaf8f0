#include "suite/formats/csv_line.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(CsvLine, QuotesWhatMustBe) {
    EXPECT_EQ(csv_line({"a", "", "b c"}), "a,,b c\n");
    EXPECT_EQ(csv_line({"a,b", "say \"yes\"", "two\nlines", "\r"}),
              "\"a,b\",\"say \"\"yes\"\"\",\"two\nlines\",\"\r\"\n");
}

}  // namespace
}  // namespace assay
