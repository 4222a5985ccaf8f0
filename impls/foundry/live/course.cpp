#include "impls/foundry/live/course.hpp"

#include <fmt/format.h>

#include "impls/foundry/driver/fake/control.hpp"
#include "suite/base/build_folder.hpp"
#include "suite/base/error.hpp"
#include "suite/drive/policy_run.hpp"

namespace assay::foundry {
namespace {

namespace fs = std::filesystem;

fs::path beside(const fs::path& file) {
    fs::path path = program_folder() / file;
    if (!fs::exists(path))
        throw NotSupportedHere(path.string() + " is not there; build the target of that name");
    return path;
}

void refuse_errors_of_real_gpus(const FaultPlan& plan, const std::string& library) {
    for (const Fault& fault : plan.faults)
        if (fault.kind == FaultKind::gpu_error &&
            !fake::FakeControl::is_fake(*open_driver(library)))
            throw NotSupportedHere(fmt::format(
                "fault '{}': only the fake driver can be made to lose a GPU", to_string(fault)));
}

}  // namespace

fs::path fake_driver() { return beside(fs::path("fake_driver") / "libcuda.so.1"); }
fs::path worker_program() { return beside("assay-foundry-worker"); }

drive::ProcessDriver worker_processes(std::vector<drive::Role> roles, const FaultPlan& faults,
                                      const std::string& library, Recorder& recorder) {
    refuse_errors_of_real_gpus(faults, library);
    drive::ProcessOptions options;
    options.faults = faults;
    return drive::ProcessDriver(
        std::move(roles),
        cluster::make_exec_launcher({.program = worker_program().string(), .worker = "engine"}),
        std::move(options), recorder);
}

LiveOutcome run_live(const LiveCourse& course, Recorder& recorder) {
    // Protocols are the worker's program's; these are its roles' names and settings.
    std::vector<drive::Role> roles = loader_roles({});
    for (drive::Role& role : roles) {
        role.progress_s = course.progress_s;
        role.configure = [&course, turn = std::size_t{0}](const drive::Spawn& spawn) mutable {
            EngineSettings engine = course.engine;
            const std::size_t of_all = spawn.role == "saver" ? 0 : turn++;
            if (!course.devices.empty())
                engine.device = course.devices[of_all % course.devices.size()];
            return drive::to_json(engine);
        };
    }
    drive::ProcessDriver driver =
        worker_processes(std::move(roles), course.faults, course.engine.driver, recorder);
    drive::PolicyRun<Loader> run(Loader(course.loader), driver);
    for (std::size_t request = 0; request < course.loader.requests.size(); ++request)
        driver.start(drive::StartTimer{request, 0});
    if (course.saves)
        driver.spawn({"saver", ""});
    else
        for (int i = 0; i < course.loader.servers; ++i) driver.spawn({"server", ""});
    const auto ended = run.run();
    LiveOutcome outcome{.ok = ended.ok,
                        .why = ended.why,
                        .seconds = ended.ended_s,
                        .results = {},
                        .troubles = run.policy().troubles(),
                        .makes = run.policy().makes(),
                        .restarts = run.policy().restarts(),
                        .faults_struck = ended.faults_struck};
    for (std::size_t request = 0; request < course.loader.requests.size(); ++request)
        outcome.results.push_back(run.policy().result(request));
    for (const std::string& archive : course.loader.archives) remove_unfinished(archive);
    return outcome;
}

}  // namespace assay::foundry
