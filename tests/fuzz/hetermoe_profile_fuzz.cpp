// Profiles of HeterMoE: any text is a profile in its bounds or a UserError that begins with its
// place; written and read again, a profile is itself.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "impls/hetermoe/profile/profile_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay::hetermoe;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const TrainingProfile profile = read_profile(text, "profile");
        for (const int count :
             {profile.layers, profile.experts, profile.new_kind.gpus, profile.old_kind.gpus})
            if (count < 1 || count > most_of_a_count) std::abort();
        if (profile.micro_batches.empty() || !profile.new_kind.attention) std::abort();
        for (const Nanoseconds time :
             {*profile.new_kind.attention, profile.new_kind.expert,
              profile.old_kind.attention.value_or(1), profile.old_kind.expert})
            if (time < 1 || time > Nanoseconds{1'000'000'000'000'000}) std::abort();
        const std::string written = to_toml(profile);
        if (to_toml(read_profile(written, "again")) != written) std::abort();
    } catch (const assay::UserError& error) {
        if (std::string_view(error.what()).substr(0, 8) != "profile:") std::abort();
    }
    return 0;
}
