#include "suite/experiment/exact_profiles.hpp"

#include <utility>

namespace assay {

std::vector<ProfilePlan> exact_profiles(double seconds_per_sample) {
    std::vector<ProfilePlan> profiles;
    for (const Profile profile : {Profile::toy, Profile::small, Profile::paper}) {
        ProfilePlan plan;
        plan.profile = profile;
        plan.provenances = {Provenance::exact};
        plan.seconds_per_sample = seconds_per_sample;
        plan.timeout_s = 60;
        profiles.push_back(std::move(plan));
    }
    return profiles;
}

}  // namespace assay
