// Keeps the course of a simulated training: its steps, what it did while it did not train, and the
// events of its timeline.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "impls/lazarus/course.hpp"
#include "impls/lazarus/simulated/cluster.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {

/// When the training ends, other than when its steps are done; 0: not by that.
struct CourseEnd {
    double duration_s = 0;    ///< after so long
    long work = 0;            ///< when steps that count add up to so many of single workers
    double checkpoint_s = 0;  ///< that writing a checkpoint takes
};

class CourseKeeper final : public ClusterObserver {
  public:
    CourseKeeper(SimulatedCluster& cluster, Recorder& recorder, const CourseEnd& end);

    void spawned(Worker) override;
    void before(const Event&) override;
    void after(const Action&, const Controller&) override;
    void decided(const Controller&) override;

    void struck(const Fault&, Worker);  ///< is about to happen
    /// The step under way is still finished.
    void time_is_up();
    /// The training is over.
    void end(bool ok, std::string why);
    TrainingCourse& course() { return course_; }

  private:
    void on(const Died&);
    void on(const Reconfigure&);
    void on(const Go&, const Controller&);
    void on(const Commit&);
    void on(const WriteCheckpoint&);
    void pause_ends(double t_s);
    double free_s(const std::vector<Worker>& workers) const;

    SimulatedCluster& cluster_;
    Recorder& recorder_;
    CourseEnd end_;
    std::vector<long> work_{0};  ///< [step] done before it, as far as steps count
    TrainingCourse course_;

    Reconfigure plan_{};  ///< in force, or being formed
    std::set<Worker> dismissed_;
    std::map<Worker, double> writing_until_s_;
    std::optional<double> loss_s_;  ///< since when the member was lost whose end is being told
    std::optional<double> pausing_since_;  ///< while a group forms
    double planned_s_ = -1;                ///< when the plan in force was made
    bool after_death_ = false, time_is_up_ = false;
    double step_start_s_ = 0, step_end_s_ = 0, last_end_s_ = 0;
};

}  // namespace assay::lazarus
