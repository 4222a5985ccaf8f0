// Rows to store, folders to store them in, mounts to make that hard.
#include "tests/store/example_rows.hpp"
#include "suite/store/ids.hpp"

#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace assay::store::testing {

Folder::Folder() {
    auto pattern = (std::filesystem::temp_directory_path() / "assay-store-test-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("cannot make " + pattern);
    path_ = pattern;
}

Folder::~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

Environment::Environment(std::string name, const char* value) : name_(std::move(name)) {
    if (const char* before = getenv(name_.c_str())) before_ = before;
    if (value)
        setenv(name_.c_str(), value, 1);
    else
        unsetenv(name_.c_str());
}

Environment::~Environment() {
    if (before_)
        setenv(name_.c_str(), before_->c_str(), 1);
    else
        unsetenv(name_.c_str());
}

Machine example_machine() { return {"f1ng3r", {{"cores", 2}, {"name", "example"}}}; }

Session example_session(std::string started) {
    Session session;
    session.id = new_uuid();
    session.machine = example_machine().fingerprint;
    session.command = "assay run lazarus/fig8 --profile toy";
    session.plan_hash = "plan";
    session.build = "build";
    session.suspects = {{"compiler", "g++ 12.2"}, {"commit", "abc"}};
    session.started = std::move(started);
    session.planned = 12;
    return session;
}

SampleSpec example_spec(std::uint64_t seed, std::string variant) {
    SampleSpec spec;
    spec.experiment = "lazarus/fig8";
    spec.variant = std::move(variant);
    spec.axes = {{"model", "gpt-l"}, {"nodes", std::int64_t{10}}, {"skew", 4.0}};
    spec.profile = Profile::small;
    spec.provenance = Provenance::emulated;
    spec.seed = seed;
    spec.scenario = "kill:rank=1@step=5";
    return spec;
}

SeriesKey key_of(const SampleSpec& spec) {
    SeriesKey key{spec.experiment, spec.variant, spec.axes, spec.profile, spec.provenance};
    key.scenario = spec.scenario;
    key.hardware = "hardware-hash";
    key.data = "data-hash";
    return key;
}

std::string begin(Store& store, std::string started) {
    store.put_machine(example_machine());
    const auto session = example_session(std::move(started));
    store.begin_session(session);
    return session.id;
}

std::string add_sample(Store& store, const std::string& session, const SampleSpec& spec,
                       double value, std::string status) {
    Sample sample;
    sample.id = store.begin_sample(session, spec, key_of(spec));
    sample.spec = spec;
    sample.status = std::move(status);
    sample.metrics = {{"throughput", {}, value}};
    store.finish_sample(sample);
    return sample.id;
}

Sample full_sample(const std::string& id, const std::string& session, const SampleSpec& spec) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    Sample sample;
    sample.id = id;
    sample.session = session;
    sample.spec = spec;
    sample.status = "ok";
    sample.reason = "";
    sample.started = "2026-11-21T02:03:04.567Z";
    sample.seconds = 1.25;
    sample.metrics = {{"loss", {{"step", std::int64_t{10}}}, 2.5},
                      {"loss", {{"step", std::int64_t{2}}}, 3.5},
                      {"loss", {{"step", 2.0}}, 4.5},
                      {"limit", {}, inf},
                      {"floor", {}, -inf},
                      {"undefined", {}, std::nan("")}};
    sample.events = {{0.5, "fault", 1, {{"kind", "kill"}}},
                     {0.75, "regroup", -1, {{"ranks", {0, 2}}}}};
    sample.series_data = {
        {"loss", "nat", {{"rank", std::int64_t{0}}}, {0, 1, 2}, {3.0, std::nan(""), -0.0}},
        {"empty", "s", {}, {}, {}}};
    sample.tables = {{"experts",
                      {{"expert", ""}, {"share", "ratio"}, {"name", ""}},
                      {{std::int64_t{0}, 4.0, "a"}, {std::int64_t{1}, 0.25, "1"}}},
                     {"nothing", {{"x", "s"}}, {}}};
    sample.artifacts = {{"trace.bin", "application/octet-stream", std::string("\0\1\2", 3)},
                        {"again.bin", "application/octet-stream", std::string("\0\1\2", 3)},
                        {"empty.txt", "text/plain", ""}};
    sample.hardware = {{0.1, "cpu", 2.5e9, std::nullopt, 61.5, std::nullopt, ""},
                       {0.2, "gpu0", 1.9e9, 2.6e9, 70.0, 640.5, "sw_power_cap,hw_slowdown"}};
    return sample;
}

bool own_mounts() {
    return unshare(CLONE_NEWNS) == 0 &&
           mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

}  // namespace assay::store::testing
