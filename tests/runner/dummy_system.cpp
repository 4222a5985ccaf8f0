#include "tests/runner/dummy_system.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>
#include <variant>
#include <vector>

#include "suite/base/error.hpp"
#include "suite/cluster/processes/supervisor.hpp"
#include "suite/experiment/policy_replay.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/runner/sample/sample_process.hpp"
#include "suite/runner/sample/sample_protocol.hpp"

namespace assay::testing {
namespace {

using namespace std::chrono_literals;

/// ASSAY_TEST_PIDS names a file to which every process of a sample adds its id.
void write_pid() {
    if (const char* file = std::getenv("ASSAY_TEST_PIDS"))
        std::ofstream(file, std::ios::app) << ::getpid() << std::endl;
}

/// 1 without the file.
double first_number_of_input() {
    double number = 1;
    if (const char* file = std::getenv("ASSAY_TEST_INPUT")) std::ifstream(file) >> number;
    return number > 0 ? number : 1;
}

void sum(const SampleSpec& spec, Recorder& recorder) {
    const auto n = std::get<std::int64_t>(spec.axes.at("n"));
    const double scale = spec.variant == "a" ? 1 : spec.variant == "b" ? 2 : 3;
    recorder.metric("total",
                    first_number_of_input() * scale * static_cast<double>(n * (n + 1) / 2));
    for (std::int64_t i = 1; i <= n; ++i)
        recorder.metric("term", scale * static_cast<double>(i), {{"i", i}});
    recorder.metric("seed_seen", static_cast<double>(spec.seed));
    recorder.event("commit", 0.25, 1, {{"step", 3}});
}

/// Several processes write `text` without pause, whole lines at a time, for as long as no test
/// waits.
void flood(int fd, const std::string& text) {
    std::string lines;
    while (lines.size() + text.size() <= PIPE_BUF) lines += text;
    const auto end = std::chrono::steady_clock::now() + flood_time;
    bool child = false;
    for (int more = 0; more < 3 && !child; ++more) child = ::fork() == 0;
    while (std::chrono::steady_clock::now() < end)
        if (::write(fd, lines.data(), lines.size()) < 0) break;
    if (child) ::_exit(0);
}

/// A grandchild in a session of its own, as far from the sample as a process can get.
void detach() {
    if (::fork() != 0) return;
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    write_pid();
    std::this_thread::sleep_for(1h);
}

/// Two of five workers die at once and are replaced, again and again until somebody ends this; only
/// once where ASSAY_TEST_ENDS is set.
void lead_workers() {
    using namespace assay::cluster;
    Supervisor supervisor(
        make_fork_server([](WorkerId, ControlChannel& control, const nlohmann::json&) {
            write_pid();
            control.start(Seconds(0.02));
            while (control.receive()) continue;
            return 0;
        }),
        {.heartbeat_timeout = Seconds(1000)});
    std::vector<WorkerId> workers;
    do {
        while (workers.size() < 5) workers.push_back(supervisor.spawn(nlohmann::json::object()));
        for (int dying = 0; dying < 2; ++dying) {
            supervisor.kill(workers.front());
            workers.erase(workers.begin());
        }
        for (int died = 0; died < 2;)
            if (const auto event = supervisor.next(Seconds(1)))
                died += std::holds_alternative<WorkerDied>(*event);
    } while (std::getenv("ASSAY_TEST_ENDS") == nullptr);
}

/// A step of 20 ms each: an event, and a point of two curves.
void grow(Recorder& recorder, int steps) {
    for (int step = 0; step < steps; ++step) {
        const double t_s = 0.02 * step, loss = 1.0 / (1 + step);
        recorder.append_series("loss", "nat", {&t_s, 1}, {&loss, 1}, {{"rank", std::int64_t{0}}});
        recorder.append_series("loss", "nat", {&t_s, 1}, {&loss, 1}, {{"rank", std::int64_t{1}}});
        recorder.event("commit", t_s, -1, {{"step", step}});
        std::this_thread::sleep_for(20ms);
    }
}

void behave(const SampleSpec& spec, Recorder& recorder) {
    write_pid();
    const std::string how = std::get<std::string>(spec.axes.at("how"));
    recorder.metric("value", 1);
    if (how == "throw") throw std::runtime_error("the experiment gave up");
    if (how == "user") throw UserError("the corpus is missing: fetch it");
    if (how == "unsupported") throw NotSupportedHere("no GPU here");
    if (how == "invalid") throw SampleError(SampleStatus::invalid, "overran by 7 %");
    if (how == "nan") recorder.metric("value", std::numeric_limits<double>::quiet_NaN());
    if (how == "undeclared") recorder.metric("surprise", 1);
    if (how == "of others") recorder.metric("computed", 1);
    if (how == "crash") {
        std::fprintf(stderr, "about to crash\n");
        ::raise(SIGSEGV);
    }
    if (how == "exit") ::_exit(7);
    if (how == "nonsense") {
        const std::string line = "{\"kind\":\"metric\"}\n";
        [[maybe_unused]] const auto written = ::write(runner::result_fd, line.data(), line.size());
        std::this_thread::sleep_for(1h);
    }
    if (how == "flood_output") flood(1, "much to tell\n");
    if (how == "flood_results")  // each takes longer to read than to write
        flood(runner::result_fd,
              runner::encode(store::Event{0, "commit", -1, {{"of", std::vector<int>(480, 1)}}}));
    if (how == "twice") {
        recorder.event("commit", 0.5, -1, {{"step", 1}});
        recorder.metric("value", 2);
    }
    if (how == "hang") std::this_thread::sleep_for(1h);
    if (how == "stubborn") {
        ::signal(SIGTERM, SIG_IGN);
        while (true) std::this_thread::sleep_for(1h);
    }
    if (how == "detach" || how == "detach_and_hang") {
        detach();
        // Until it has told its id.
        std::this_thread::sleep_for(50ms);
        if (how == "detach_and_hang") std::this_thread::sleep_for(1h);
    }
    if (how == "child" && ::fork() == 0) {  // in the sample's process group
        write_pid();
        std::this_thread::sleep_for(1h);
    }
    if (how == "slow" || how == "child") {
        for (int i = 0; i < 4; ++i) {
            recorder.event("commit", 0.01 * i, -1, {{"step", i}});
            std::this_thread::sleep_for(10ms);
        }
    }
    if (how == "grow") grow(recorder, 40);
    if (how == "grow_and_hang") {
        grow(recorder, 40);
        std::this_thread::sleep_for(1h);
    }
    if (how == "grow_and_die") {
        grow(recorder, 40);
        ::raise(SIGKILL);
    }
    if (how == "storm")
        for (int step = 0; step < 20'000; ++step)
            recorder.event("commit", 1e-5 * step, -1, {{"step", step}});
    if (how == "resumable") {  // its first attempt waits to be interrupted, the second goes on
        const std::filesystem::path kept = std::filesystem::path(spec.state) / "half";
        const bool second = std::filesystem::exists(kept);
        recorder.event(second ? "resumed" : "begun", 0, -1, {{"step", 0}});
        if (second) return;
        std::filesystem::create_directories(spec.state);
        std::ofstream(kept) << "x";
        std::filesystem::create_directories(spec.shared);
        std::ofstream(spec.shared + "/model") << "x";
        recorder.event("commit", 0, -1, {{"step", 1}});
        std::this_thread::sleep_for(1h);
    }
    if (how == "meets") {  // two at once, or never
        const std::filesystem::path here = spec.shared;
        std::filesystem::create_directories(here);
        std::ofstream(here / std::to_string(spec.seed)) << "x";
        const auto other =
            here / std::to_string(spec.seed % 2 == 0 ? spec.seed - 1 : spec.seed + 1);
        for (int i = 0; !std::filesystem::exists(other); ++i) {
            if (i == 2000) throw std::runtime_error("nobody came");
            std::this_thread::sleep_for(10ms);
        }
    }
    if (how == "workers") {
        std::filesystem::create_directories(spec.state);
        std::ofstream(spec.state + "/kept") << "x";
        std::ofstream(spec.scratch + "/file") << "x";
        lead_workers();
    }
    if (how.starts_with("decides_"))
        recorder.artifact("decisions.jsonl", recorded_decisions, how.substr(8));
    if (how == "rich") {
        const std::vector<double> times{0, 1, 2}, values{1, std::nan(""), 3};
        recorder.time_series("loss", "nat", times, values, {{"rank", std::int64_t{1}}});
        const std::vector<TableColumn> columns{{"step", ""}, {"who", ""}, {"time", "s"}};
        recorder.table("steps", columns, {{std::int64_t{1}, std::string("me"), 0.5}});
        recorder.artifact("bytes", "application/octet-stream", std::string("\0\xff\n{", 4));
        recorder.progress(0.5, "half way");
        std::ofstream(spec.scratch + "/file") << "x";
    }
}

Experiment make_sum() {
    Experiment experiment;
    experiment.id = "dummy/sum";
    experiment.title = "Sums of the first numbers";
    experiment.source = "Gauss, at school";
    experiment.says = "Adds 1 … n, times a factor per variant.";
    experiment.axes = {{"n", "how many", {std::int64_t{2}, std::int64_t{3}}, true},
                       {"kind", "of what", {std::string("plain"), std::string("fancy")}, false}};
    experiment.variants = {"a", "b", "c"};
    experiment.metrics = {{"total", "count", "the sum", Direction::higher, true, {}},
                          {"term", "count", "each term", Direction::none, true, {"i"}},
                          {"seed_seen", "count", "the seed", Direction::none, false, {}}};
    ProfilePlan toy;
    toy.provenances = {Provenance::exact};
    toy.axes = {{"kind", {std::string("plain")}}};
    toy.seconds_per_sample = 0.05;
    toy.bytes_per_sample = 1000;
    ProfilePlan small = toy;
    small.profile = Profile::small;
    small.provenances = {Provenance::exact, Provenance::simulated};
    small.rounds = 3;
    small.axes = {};
    experiment.profiles = {toy, small};
    experiment.figure = {Figure::Kind::lines, "term", "i", {}, "i", "term", false};
    experiment.inputs = [](const SampleSpec&) -> std::vector<Input> {
        const char* file = std::getenv("ASSAY_TEST_INPUT");
        if (file == nullptr) return {};
        const char* known = std::getenv("ASSAY_TEST_INPUT_SHA256");
        return {{"numbers", file, known ? known : ""}};
    };
    experiment.run = sum;
    return experiment;
}

Experiment make_behave() {
    Experiment experiment;
    experiment.id = "dummy/behave";
    experiment.title = "Samples that behave in every way";
    experiment.source = "none";
    experiment.says = "For the runner's tests.";
    experiment.axes = {{"how", "which way", {std::string("well")}, true}};
    experiment.variants = {"only"};
    experiment.metrics = {{"value", "count", "one", Direction::none, false, {}},
                          {"computed",
                           "count",
                           "not of measured ones",
                           Direction::none,
                           false,
                           {},
                           {Provenance::exact}}};
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.seconds_per_sample = 0.05;
    ProfilePlan small = toy;
    small.profile = Profile::small;
    small.provenances = {Provenance::simulated};
    ProfilePlan paper = toy;  // measures no times
    paper.profile = Profile::paper;
    paper.side_by_side = true;
    paper.axes = {{"how", {std::string("well"), std::string("meets")}}};
    experiment.profiles = {toy, small, paper};
    experiment.figure = {Figure::Kind::bars, "value", "how", {}, "", "", false};
    experiment.takes_faults = true;
    experiment.default_scenario = "kill:rank=1@step=5";
    experiment.run = behave;
    return experiment;
}

/// What dummy/behave with how=decides_… recorded is the answer.
PolicyReplay replay_decisions(std::istream& recording) {
    std::string answer;
    recording >> answer;
    if (answer == "unreadably") throw UserError("this is no recording");
    PolicyReplay replay;
    replay.decisions = answer == "nothing" ? 0 : 3;
    if (answer == "otherwise")
        replay.difference = {.decision = 1,
                             .now_s = 2.5,
                             .event = {{"type", "died"}, {"worker", 3}},
                             .recorded = {{{"type", "go"}, {"step", 4}}},
                             .now = {{{"type", "go"}, {"step", 5}}},
                             .threw = {}};
    return replay;
}

Claim make_claim(const std::string& id, double value) {
    Claim claim;
    claim.id = id;
    claim.experiment = "dummy/sum";
    claim.says = "b is twice a";
    claim.value = value;
    claim.unit = "ratio";
    claim.relative = 0.01;
    claim.metric = "total";
    claim.of = {"b", {{"n", std::int64_t{3}}}};
    claim.over = Selector{"a", {{"n", std::int64_t{3}}}};
    claim.test.name = "near";
    claim.checkable = {{"toy", "exact"}};
    claim.source = "Gauss, at school";
    return claim;
}

}  // namespace

System make_dummy_system() {
    System system;
    system.id = "dummy";
    system.title = "A system for tests";
    system.paper = "none";
    system.experiments = {make_sum(), make_behave()};
    system.highlight = {
        "sums, by adding", {{"dummy/sum", {{"n", {std::int64_t{3}}}}}}, "dummy/sum"};
    system.replay_policy = replay_decisions;
    system.claims = {make_claim("dummy/sum/twice", 2), make_claim("dummy/sum/thrice", 3)};
    system.claims.front().headline = true;
    return system;
}

Registry make_dummy_registry() {
    Registry registry;
    registry.add(make_dummy_system());
    return registry;
}

}  // namespace assay::testing
