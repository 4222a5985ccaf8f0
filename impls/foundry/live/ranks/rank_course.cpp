#include "impls/foundry/live/ranks/rank_course.hpp"

#include "impls/foundry/live/course.hpp"
#include "suite/drive/policy_run.hpp"

namespace assay::foundry {

RankOutcome run_ranks(const RankCourse& course, Recorder& recorder) {
    std::vector<drive::Role> roles = loader_roles({}, course.progress_s);
    for (drive::Role& role : roles)
        role.configure = [&course](const drive::Spawn& spawn) {
            const RankName name = rank_name(spawn.instance);
            EngineSettings engine = course.engine;
            engine.place = {.rank = name.rank,
                            .ranks = name.ranks,
                            .sockets = (course.sockets / std::to_string(name.group)).string()};
            return drive::to_json(engine);
        };
    drive::ProcessDriver driver =
        worker_processes(std::move(roles), course.faults, course.engine.driver, recorder);
    RankGroup group(course.group);
    const std::vector<drive::Spawn> first = group.first();
    drive::PolicyRun<RankGroup> run(std::move(group), driver);
    for (const drive::Spawn& spawn : first) driver.spawn(spawn);
    const auto ended = run.run();
    RankOutcome outcome{.ok = ended.ok,
                        .why = ended.why,
                        .results = {},
                        .groups = run.policy().groups(),
                        .troubles = run.policy().troubles(),
                        .restarts = run.policy().restarts(),
                        .faults_struck = ended.faults_struck};
    for (std::size_t request = 0; request < course.group.requests.size(); ++request)
        outcome.results.push_back(run.policy().result(request));
    return outcome;
}

std::string save_rank(EngineSettings engine, int rank, int ranks,
                      const std::filesystem::path& archive) {
    engine.place = {.rank = rank, .ranks = ranks, .sockets = {}};
    return make_live_engine(engine)->save(archive.string());
}

}  // namespace assay::foundry
