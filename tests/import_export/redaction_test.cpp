// No host name and no folder of a user leaves the machine with --redact.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "suite/import_export/export.hpp"
#include "suite/import_export/import.hpp"
#include "suite/import_export/redaction.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::import_export::testing {
namespace {

using store::Access;
using store::Store;
using store::testing::Folder;

TEST(Redaction, OfTexts) {
    const Redaction redaction({{"node1", "host-1"}, {"node1.lab", "host-1"}, {"vm", "host-2"}});
    EXPECT_EQ(redaction.text("ran on node1.lab, node1 and vm"), "ran on host-1, host-1 and host-2");
    EXPECT_EQ(redaction.text("node12 vmlinux evm"), "node12 vmlinux evm");
    EXPECT_EQ(redaction.text("NODE1-ib0 vm_log my-vm"), "host-1-ib0 host-2_log my-host-2");
    EXPECT_EQ(redaction.text("file:///home/ann/x //home/ann/x -I/home/ann/i -o/home/ann/x"),
              "file://.../x /.../x -I.../i -o.../x");
    EXPECT_EQ(redaction.text("/run/media/ann/x /run/media/ann /home//ann /media/ann"),
              ".../x ~ ~ ~");
    EXPECT_EQ(redaction.text(R"(at\n/home/ann/x\nnode1)"), R"(at\n.../x\nhost-1)");
    EXPECT_EQ(redaction.text("/home/ann/runs/x.db --db=/srv/a/b.db"), ".../x.db --db=.../b.db");
    EXPECT_EQ(redaction.text("/home/ann /root"), "~ ~");
    EXPECT_EQ(redaction.text(R"({"path":"/home/ann/m.gguf","at":"/usr/lib/x"})"),
              R"({"path":".../m.gguf","at":"/usr/lib/x"})");
    EXPECT_EQ(redaction.text("12 tokens/s, a/b, https://example.org/a/b"),
              "12 tokens/s, a/b, https://example.org/a/b");
}

TEST(Redaction, NothingIsLeftAnywhereInTheFile) {
    Folder folder;
    {
        auto store = Store::open(folder / "a.db", Access::write);
        store.put_machine({"abcdef99", {{"cores", 2}}});
        auto session = store::testing::example_session();
        session.machine = "abcdef99";
        session.suspects["host"] = "secrethost";
        session.command = "/home/anna/bin/assay run lte/fig8 --hosts secrethost,peerhost";
        store.begin_session(session);
        auto spec = store::testing::example_spec(1);
        spec.axes["host"] = std::string("secrethost");
        spec.scratch = "/home/anna/scratch/1";
        const auto id = store.begin_sample(session.id, spec, store::testing::key_of(spec));
        auto sample = store::testing::full_sample(id, session.id, spec);
        sample.status = "failed";
        sample.reason = "secrethost: cannot open /home/anna/x";
        sample.metrics.push_back({"rate", {{"host", std::string("peerhost")}}, 1.0});
        sample.events.push_back({0, "death", 1, {{"secrethost", "gone"}}});
        sample.artifacts.push_back({"log.txt", "text/plain", "secrethost says hello\n"});
        sample.artifacts.push_back(
            {"core.bin", "application/octet-stream", std::string("\0 secrethost \xff", 14)});
        sample.tables.push_back({"hosts", {{"host", ""}}, {{std::string("secrethost")}}});
        store.finish_sample(sample);
        store.annotate(session.id, "secrethost was hot");
        store.finish_session(session.id, "finished");
        SQLite::Database((folder / "a.db").string(), SQLite::OPEN_READWRITE)
            .exec(
                "INSERT INTO mute (pattern, metric, at, until, why, who) "
                "VALUES ('*host=secrethost*', '', '1', '', 'noisy', 'secrethost')");
    }
    for (const auto format : {ArchiveFormat::database, ArchiveFormat::json_lines}) {
        const auto to = folder / (format == ArchiveFormat::database ? "out.db" : "out.jsonl");
        write_archive(folder / "a.db", {.redacted = true, .names = {"peerhost"}, .format = format},
                      to);
        std::ifstream in(to, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(in), {}};
        for (const char* secret : {"secrethost", "peerhost", "anna"})
            EXPECT_EQ(bytes.find(secret), std::string::npos) << secret;
        auto store = Store::open(folder / (format == ArchiveFormat::database ? "b.db" : "c.db"),
                                 Access::write);
        EXPECT_EQ(import_file(store, to).samples, 1);
        const auto report = store.check();
        EXPECT_TRUE(report.ok) << report.problems.at(0);
        const auto session = store.sessions().at(0);
        EXPECT_EQ(session.command, ".../assay run lte/fig8 --hosts host-abcdef,name-1");
        const auto sample = store.sample(store.samples(session.id).at(0).id);
        EXPECT_EQ(sample.spec.axes.at("host"), Value(std::string("host-abcdef")));
        EXPECT_EQ(sample.spec.scratch, "");
        EXPECT_EQ(sample.reason, "host-abcdef: cannot open .../x");
        EXPECT_EQ(sample.artifacts.at(3).bytes, "host-abcdef says hello\n");
        EXPECT_EQ(sample.artifacts.at(0).bytes, std::string("\0\1\2", 3)) << "others stay";
    }
}

/// Stores one sample of each specification on a machine called `host`; `add` records more.
template <class Add>
void fill(const std::filesystem::path& file, const char* host, std::vector<SampleSpec> specs,
          Add add) {
    auto store = Store::open(file, Access::write);
    store.put_machine({"abcdef99", {{"cores", 2}}});
    auto session = store::testing::example_session();
    session.machine = "abcdef99";
    session.suspects["host"] = host;
    store.begin_session(session);
    for (const auto& spec : specs) {
        const auto id = store.begin_sample(session.id, spec, store::testing::key_of(spec));
        auto sample = store::testing::full_sample(id, session.id, spec);
        add(sample);
        store.finish_sample(sample);
    }
    store.finish_session(session.id, "finished");
}

TEST(Redaction, LooksBehindEscapesOfJson) {
    Folder folder;
    fill(folder / "a.db", "secrethost", {store::testing::example_spec(1)}, [](auto& sample) {
        sample.events.push_back({0, "death", 1, {{"log", "a\nsecrethost\n/home/anna/x"}}});
    });
    write_archive(folder / "a.db", {.redacted = true}, folder / "out.db");
    const auto store = Store::open(folder / "out.db", Access::read);
    const auto samples = store.samples(store.sessions().at(0).id);
    EXPECT_EQ(store.sample(samples.at(0).id).events.back().detail.at("log"),
              "a\nhost-abcdef\n.../x");
}

/// Their machine is told by its processors: one for both, with the name of the first.
TEST(Redaction, OfHostsThatFilesOfBenchmarksName) {
    Folder folder;
    {
        auto store = Store::open(folder / "a.db", Access::write);
        for (const char* host : {"firsthost", "secondhost.lab"}) {
            std::ofstream(folder / "b.json")
                << R"({"context": {"num_cpus": 2, "host_name": ")" << host
                << R"("}, "benchmarks": [{"name": "B", "real_time": 3}]})";
            EXPECT_EQ(import_file(store, folder / "b.json").sessions, 1);
        }
    }
    write_archive(folder / "a.db", {.redacted = true, .format = ArchiveFormat::json_lines},
                  folder / "out.jsonl");
    std::ifstream in(folder / "out.jsonl");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    EXPECT_NE(text.find("host_name"), std::string::npos);
    for (const char* host : {"firsthost", "secondhost"})
        EXPECT_EQ(text.find(host), std::string::npos) << host;
}

TEST(Redaction, LeavesWhatTheProgramItselfNames) {
    const auto spec = store::testing::example_spec(3);
    for (const char* host : {"small", "emulated", "profile", "seed", "gpu0", "lazarus", "kill"}) {
        Folder folder;
        fill(folder / "a.db", host, {spec}, [](const auto&) {});
        write_archive(
            folder / "a.db",
            {.redacted = true, .names = {"3", "rank", "case"}, .format = ArchiveFormat::json_lines},
            folder / "out.jsonl");
        auto store = Store::open(folder / "b.db", Access::write);
        ASSERT_EQ(import_file(store, folder / "out.jsonl").samples, 1) << host;
        const auto id = store.samples(store.sessions().at(0).id).at(0).id;
        const auto sample = store.sample(id);
        EXPECT_EQ(to_json(sample.spec), to_json(spec)) << host;
        EXPECT_EQ(sample.hardware.at(1).device, "gpu0");
        EXPECT_TRUE(store.check().ok);
    }
}

TEST(Redaction, WhatDifferedGoesOnDiffering) {
    Folder folder;
    auto one = store::testing::example_spec(1), two = one;
    one.axes["trace"] = std::string("/data/a/trace.csv");
    two.axes["trace"] = std::string("/data/b/trace.csv");
    fill(folder / "a.db", "secrethost", {one, two}, [](auto& sample) {
        for (const char* file : {"/data/a/log", "/data/b/log"})
            sample.metrics.push_back({"lines", {{"file", std::string(file)}}, 1.0});
    });
    {
        auto store = Store::open(folder / "a.db", Access::write);
        store.set_baseline("/data/a/base", store.sessions().at(0).id);
        store.set_baseline("/data/b/base", store.sessions().at(0).id);
    }
    write_archive(folder / "a.db", {.redacted = true}, folder / "out.db");
    const auto store = Store::open(folder / "out.db", Access::read);
    const auto samples = store.samples(store.sessions().at(0).id);
    ASSERT_EQ(samples.size(), 2u);
    EXPECT_NE(samples[0].series, samples[1].series);
    for (const auto& sample : samples) {
        const auto trace = std::get<std::string>(sample.spec.axes.at("trace"));
        EXPECT_TRUE(trace.starts_with(".../trace.csv~")) << trace;
    }
    EXPECT_EQ(store.baselines().size(), 2u);
    const auto report = store.check();
    EXPECT_TRUE(report.ok) << report.problems.at(0);
}

}  // namespace
}  // namespace assay::import_export::testing
