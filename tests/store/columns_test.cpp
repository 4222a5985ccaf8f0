// The exact bytes and texts of what other programs may read from the file: values, ids, times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <set>

#include "suite/store/ids.hpp"
#include "suite/store/row_codec.hpp"
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

TEST(Uuid, IsVersionFourAndNeverTheSame) {
    std::set<std::string> seen;
    for (int i = 0; i < 2000; ++i) {
        const auto id = new_uuid();
        ASSERT_THAT(id, testing::MatchesRegex(
                            "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
        ASSERT_TRUE(seen.insert(id).second);
    }
}

TEST(Uuid, ParentAndChildDrawDifferentOnes) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        const auto id = new_uuid();
        _exit(write(ends[1], id.data(), id.size()) == 36 ? 0 : 1);
    }
    const auto ours = new_uuid();
    std::string theirs(36, ' ');
    EXPECT_EQ(read(ends[0], theirs.data(), 36), 36);
    waitpid(child, nullptr, 0);
    EXPECT_NE(ours, theirs);
    close(ends[0]);
    close(ends[1]);
}

TEST(Timestamp, IsUtcWithMilliseconds) {
    using namespace std::chrono;
    EXPECT_EQ(utc(system_clock::time_point(milliseconds(1795226584567))),
              "2026-11-21T02:03:04.567Z");
    EXPECT_EQ(utc(system_clock::time_point(milliseconds(5))), "1970-01-01T00:00:00.005Z");
    EXPECT_THAT(now_utc(), testing::MatchesRegex("20..-..-..T..:..:..[.]...Z"));
}

}  // namespace
}  // namespace assay::store
