// The recordings that are shipped: small, whole, and of what their page says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "suite/import_export/import.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::foundry {
namespace {

namespace fs = std::filesystem;

const fs::path recordings = fs::path(ASSAY_TEST_DATASETS) / "recordings" / "foundry";

TEST(FoundryRecordings, AreSmall) {
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(recordings)) bytes += entry.file_size();
    EXPECT_LE(bytes, 2U << 20);
}

TEST(FoundryRecordings, TheFakeDriversAreEmulatedAndOfWhatTheirPageNames) {
    const testing::TemporaryFolder folder;
    auto store = store::Store::open(folder.path() / "recordings.db", store::Access::write);
    import_export::import_file(store, recordings / "fake-driver.jsonl");
    EXPECT_THAT(store.experiments(),
                ::testing::ElementsAre("foundry/tokens", "foundry/x_driver", "foundry/x_penalty",
                                       "foundry/x_ranks"));
    for (const auto& session : store.sessions()) {
        EXPECT_EQ(session.state, "finished");
        const auto samples = store.samples(session.id);
        EXPECT_FALSE(samples.empty()) << session.command;
        for (const auto& sample : samples) {
            EXPECT_EQ(sample.spec.provenance, Provenance::emulated) << sample.id;
            EXPECT_EQ(sample.spec.profile, Profile::toy) << sample.id;
            EXPECT_EQ(sample.status, "ok") << sample.id;
        }
    }
    std::ifstream page(recordings / "README.md");
    const std::string text{std::istreambuf_iterator<char>(page), {}};
    for (const char* said : {"`fake-driver.jsonl`", "`foundry/tokens`", "`x_driver`", "`x_penalty`",
                             "`x_ranks`", "profile toy", "labelled emulated"})
        EXPECT_THAT(text, ::testing::HasSubstr(said));
}

}  // namespace
}  // namespace assay::foundry
