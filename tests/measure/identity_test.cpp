#include <gtest/gtest.h>

#include "suite/measure/build_info.hpp"
#include "suite/measure/environment.hpp"

namespace assay::measure {
namespace {

Environment machine() {
    Environment here;
    here.cpu_model = "AMD EPYC (family 25 model 17 stepping 1)";
    here.cores = here.usable_cores = 16;
    here.memory_bytes = 128ull << 30;
    here.gpus.devices = {{"NVIDIA H200", 150754820096ull}};
    here.gpus.driver = "580.12";
    here.kernel = "6.1.0";
    here.hostname = "one";
    return here;
}

TEST(Identity, IsStableAcrossWhatDoesNotChangeTheHardware) {
    const Identity before = identity(machine());
    Environment later = machine();
    later.kernel = "6.12.0";
    later.hostname = "two";
    later.gpus.driver = "600.1";
    later.load_1m = 7;
    later.memory_bytes -= 600ull << 20;  // a newer kernel keeps more for itself
    EXPECT_EQ(identity(later).fingerprint, before.fingerprint);
    EXPECT_EQ(before.fingerprint.size(), 16u);
    EXPECT_NE(suspects(later), suspects(machine()));
    EXPECT_EQ(identity(later).description, before.description) << "of the hardware alone";
}

TEST(Identity, ItsDescriptionSaysInWhatTwoMachinesDiffer) {
    const HardwareFacts here = hardware_facts(identity(machine()).description);
    EXPECT_EQ(here.at("gpus"), "NVIDIA H200 (128 GiB)");
    Environment fewer = machine();
    fewer.usable_cores = 1;
    fewer.cpu_quota = 1.5;
    fewer.gpus.devices.push_back(fewer.gpus.devices.front());
    fewer.hostname = "two";
    fewer.os = "another";
    std::string told;
    for (const auto& [name, before, after] :
         hardware_differences(here, hardware_facts(identity(fewer).description)))
        told += name + ' ' + before + " → " + after + '\n';
    EXPECT_EQ(told,
              "gpus NVIDIA H200 (128 GiB) → 2 × NVIDIA H200 (128 GiB)\n"
              "quota none → 1.5 cores\n"
              "usable cores 16 → 1\n");
    EXPECT_TRUE(hardware_differences(here, here).empty());
    EXPECT_TRUE(hardware_facts(nlohmann::json()).empty()) << "a machine of which nothing is known";
    const HardwareFacts imported =
        hardware_facts({{"imported", "google benchmark"}, {"num_cpus", 4}});
    EXPECT_EQ(imported, (HardwareFacts{{"num_cpus", "4"}})) << "in the words of its file";
}

TEST(Identity, ChangesWithEachPropertyThatAffectsPerformance) {
    const std::string before = identity(machine()).fingerprint;
    const auto changed = [&](auto change) {
        Environment other = machine();
        change(other);
        return identity(other).fingerprint != before;
    };
    EXPECT_TRUE(changed([](Environment& e) { e.cpu_model += "x"; }));
    EXPECT_TRUE(changed([](Environment& e) { e.cores = 8; }));
    EXPECT_TRUE(changed([](Environment& e) { e.usable_cores = 2; }));
    EXPECT_TRUE(changed([](Environment& e) { e.cpu_quota = 1.5; }));
    EXPECT_TRUE(changed([](Environment& e) { e.memory_bytes /= 2; }));
    EXPECT_TRUE(changed([](Environment& e) { e.gpus.devices.clear(); }));
    EXPECT_TRUE(changed([](Environment& e) { e.gpus.devices[0].name = "NVIDIA H100"; }));
    EXPECT_TRUE(changed([](Environment& e) { e.gpus.devices[0].memory_bytes /= 2; }));
}

TEST(Suspects, AreFlatTextAndNameTheCommit) {
    const nlohmann::json named = suspects(machine());
    for (const auto& [key, value] : named.items()) EXPECT_TRUE(value.is_string()) << key;
    EXPECT_EQ(named.at("commit"), build_info().commit);
    EXPECT_EQ(named.at("driver"), "580.12");
    EXPECT_EQ(named.at("host"), "one");
    for (const char* of_the_machine : machine_suspects) EXPECT_TRUE(named.contains(of_the_machine));
}

}  // namespace
}  // namespace assay::measure
