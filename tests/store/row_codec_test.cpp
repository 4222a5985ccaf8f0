// The exact bytes of what other programs may read from the file.
#include "suite/store/row_codec.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "suite/store/store.hpp"

namespace assay::store {
namespace {

TEST(RowCodec, BlobsAreLittleEndianDoubles) {
    const std::vector<double> values = {1.0, -2.5};
    EXPECT_EQ(blob_of(values), std::string("\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\x04\xc0", 16));
    EXPECT_EQ(doubles_of(blob_of(values)), values);
    EXPECT_TRUE(std::signbit(doubles_of(blob_of(std::vector<double>{-0.0})).front()));
    EXPECT_THROW(doubles_of("1234567"), std::invalid_argument);
}

TEST(RowCodec, CanonicalLabelsAreSortedAndKeepTheirTypes) {
    const Case labels = {{"step", std::int64_t{2}}, {"layer", 2.0}, {"arm", "2"}};
    EXPECT_EQ(canonical(labels), R"({"arm":"2","layer":2.0,"step":2})");
    EXPECT_EQ(case_from_text(canonical(labels)), labels);
    EXPECT_EQ(canonical({}), "{}");
}

TEST(RowCodec, LabelsMustBeFinite) {
    EXPECT_THROW(canonical({{"x", std::nan("")}}), StoreError);
    EXPECT_THROW(canonical({{"x", std::numeric_limits<double>::infinity()}}), StoreError);
}

}  // namespace
}  // namespace assay::store
