// Short ids.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

TEST(Prefix, FindsTheOneAndListsTheMany) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    store.put_machine(example_machine());
    for (const char* id :
         {"abcd1111-0000-4000-8000-000000000001", "abcd1111-0000-4000-8000-000000000002",
          "abcd2222-0000-4000-8000-000000000003"}) {
        auto session = example_session();
        session.id = id;
        store.begin_session(session);
    }
    EXPECT_EQ(store.resolve_session("abcd2"), "abcd2222-0000-4000-8000-000000000003");
    EXPECT_EQ(store.resolve_session("ABCD2"), "abcd2222-0000-4000-8000-000000000003");
    EXPECT_EQ(store.resolve_session("abcd1111-0000-4000-8000-000000000001"),
              "abcd1111-0000-4000-8000-000000000001");
    const auto ambiguous = error_of([&] { store.resolve_session("abcd1"); });
    EXPECT_NE(ambiguous.find("000000000001, abcd1111-0000-4000-8000-000000000002"),
              std::string::npos)
        << ambiguous;
    EXPECT_EQ(ambiguous.find("abcd2222"), std::string::npos);
    EXPECT_NE(error_of([&] { store.resolve_session("abc"); }).find("at least 4"),
              std::string::npos);
    EXPECT_NE(error_of([&] { store.resolve_session("abcd3"); }).find("no session"),
              std::string::npos);
    EXPECT_NE(error_of([&] { store.resolve_session("____"); }).find("no session"),
              std::string::npos);
    EXPECT_NE(error_of([&] { store.resolve_session("%%%%' OR 1"); }).find("no session"),
              std::string::npos);
    EXPECT_NE(error_of([&] { store.sample("abcd2"); }).find("no sample"), std::string::npos);
}

TEST(Prefix, ALongListIsCutShort) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    store.put_machine(example_machine());
    for (char last = 'a'; last <= 'f'; ++last)
        for (char digit = '0'; digit <= '2'; ++digit) {
            auto session = example_session();
            session.id = std::string("abcd0000-0000-4000-8000-0000000000") + last + digit;
            store.begin_session(session);
        }
    const auto said = error_of([&] { store.resolve_session("abcd"); });
    EXPECT_NE(said.find("…"), std::string::npos);
    EXPECT_EQ(std::count(said.begin(), said.end(), ','), 7) << said;
}

}  // namespace
}  // namespace assay::store::testing
