// Files in folders where nothing may be written.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

namespace fs = std::filesystem;

/// The folder as a read-only mount, which stops even root; changed modes would not.
bool make_read_only(const fs::path& folder) {
    return own_mounts() && mount(folder.c_str(), folder.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
           mount(nullptr, folder.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0;
}

TEST(ReadOnly, ReadersWorkOnAPrivateCopyThatGoesAway) {
    Folder folder, temporary;
    std::string session;
    {
        auto store = Store::open(folder / "r.db", Access::write);
        session = begin(store);
        add_sample(store, session, example_spec(1), 42);
    }
    if (!make_read_only(folder.path())) GTEST_SKIP() << "mounting is not permitted here";
    Unmount unmount{folder.path()};
    Environment tmpdir("TMPDIR", temporary.path().c_str());
    {
        auto reader = Store::open(folder / "r.db", Access::read);
        EXPECT_EQ(reader.path(), folder / "r.db");
        EXPECT_EQ(reader.observations("lazarus/fig8").at(0).value, 42);
        EXPECT_TRUE(reader.check().ok);
        EXPECT_NE(error_of([&] { reader.put_machine(example_machine()); }), "");
        EXPECT_FALSE(fs::is_empty(temporary.path()));
    }
    EXPECT_TRUE(fs::is_empty(temporary.path()));
    const auto said = error_of([&] { Store::open(folder / "r.db", Access::write); });
    EXPECT_NE(said.find("cannot be written"), std::string::npos) << said;
    EXPECT_NE(error_of([&] { Store::open(folder / "new.db", Access::write); }), "");

    auto other = Store::open(temporary / "mine.db", Access::write);
    EXPECT_EQ(other.merge(folder / "r.db").samples, 1) << "merging needs to read only";
    EXPECT_EQ(other.observations("lazarus/fig8").at(0).value, 42);
}

TEST(ReadOnly, WhatStillIsInTheWriteAheadLogIsRead) {
    Folder writable, folder;
    auto store = Store::open(writable / "r.db", Access::write);
    add_sample(store, begin(store), example_spec(1), 42);
    for (const char* name : {"r.db", "r.db-wal"}) fs::copy_file(writable / name, folder / name);
    if (!make_read_only(folder.path())) GTEST_SKIP() << "mounting is not permitted here";
    Unmount unmount{folder.path()};
    EXPECT_EQ(Store::open(folder / "r.db", Access::read).observations("lazarus/fig8").at(0).value,
              42);
}

}  // namespace
}  // namespace assay::store::testing
