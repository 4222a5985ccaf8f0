#include "impls/hetermoe/profile/profile_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace assay::hetermoe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string least = R"(layers = 3
experts = 6
micro_batches = [4, 2]
[new]
gpus = 2
attention_s = 0.75
expert_s = 8e-1
[old]
gpus = 1
expert_s = 1
[exchange]
seconds = 0
)";

std::string replaced(const std::string& what, const std::string& by) {
    std::string text = least;
    const auto at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), by);
}

std::string error(const std::string& text) {
    try {
        read_profile(text, "p.toml");
    } catch (const ProfileFileError& error) {
        EXPECT_EQ(std::string(error.what()).substr(0, 7), "p.toml:");
        return error.what();
    }
    return "no error: " + text;
}

TEST(HetermoeProfile, ReadsNanosecondsAndFillsInDefaults) {
    const TrainingProfile profile = read_profile(least, "p.toml");
    EXPECT_EQ(profile.layers, 3);
    EXPECT_EQ(profile.experts, 6);
    EXPECT_THAT(profile.micro_batches, ElementsAre(2, 4));
    EXPECT_EQ(profile.new_kind.gpus, 2);
    EXPECT_EQ(profile.new_kind.attention, 750'000'000);
    EXPECT_EQ(profile.new_kind.expert, 800'000'000);
    EXPECT_EQ(profile.new_kind.head, 0);
    EXPECT_FALSE(profile.new_kind.capacity);
    EXPECT_FALSE(profile.old_kind.attention);
    EXPECT_EQ(profile.old_kind.expert, 1'000'000'000);
    EXPECT_EQ(profile.exchange, 0);
    EXPECT_TRUE(profile.ep_exposed == Fraction(1));
    EXPECT_EQ(profile.dense_sync, 0);
}

TEST(HetermoeProfile, RoundsToWholeNanoseconds) {
    EXPECT_EQ(read_profile(replaced("0.75", "1.6e-9"), "p").new_kind.attention, 2);
    EXPECT_EQ(read_profile(replaced("0.75", "1e6"), "p").new_kind.attention, 1'000'000'000'000'000);
    EXPECT_EQ(read_profile(replaced("0.75", "0.123456789"), "p").new_kind.attention, 123'456'789);
    EXPECT_EQ(read_profile(replaced("seconds = 0", "seconds = 4e-10"), "p").exchange, 0);
}

TEST(HetermoeProfile, IsWrittenAsItReads) {
    const std::string full = least + "ep_exposed = 0.45\n[sync]\ndense_s = 0.5\nexpert_s = 1e-9\n";
    std::string rich = full;
    rich.replace(rich.find("gpus = 2"), 8, "gpus = 2\nhead_s = 0.1\ncapacity = 0");
    for (const std::string& text : {full, rich}) {
        const std::string written = to_toml(read_profile(text, "p"));
        EXPECT_EQ(to_toml(read_profile(written, "q")), written);
    }
    EXPECT_THAT(
        to_toml(read_profile(rich, "p")),
        ::testing::AllOf(HasSubstr("head_s = 0.100000000\ncapacity = 0\n"),
                         HasSubstr("ep_exposed = 0.45\n"), HasSubstr("expert_s = 0.000000001\n")));
}

TEST(HetermoeProfile, ZeroIsAllowedWhereItMeansSomething) {
    const std::string zeros = replaced("gpus = 2", "gpus = 2\nhead_s = 0\ncapacity = 0") +
                              "ep_exposed = 0\n[sync]\ndense_s = 0\nexpert_s = 0\n";
    EXPECT_EQ(read_profile(zeros, "p").new_kind.capacity, 0);
    EXPECT_NO_THROW(read_profile(least + "[sync]\n", "p"));
}

TEST(HetermoeProfile, RefusesWhatIsMissing) {
    EXPECT_THAT(error(""), HasSubstr("lacks 'layers'"));
    for (const char* key : {"layers = 3\n", "experts = 6\n", "micro_batches = [4, 2]\n",
                            "gpus = 2\n", "attention_s = 0.75\n", "expert_s = 8e-1\n", "gpus = 1\n",
                            "expert_s = 1\n", "seconds = 0\n"})
        EXPECT_THAT(error(replaced(key, "")), HasSubstr("lacks '")) << key;
    EXPECT_THAT(error(replaced("[exchange]\nseconds = 0\n", "")), HasSubstr("[exchange]"));
    EXPECT_THAT(error("layers = 1\nexperts = 1\nmicro_batches = [1]\n"), HasSubstr("[new]"));
}

TEST(HetermoeProfile, RefusesWhatItDoesNotKnow) {
    EXPECT_THAT(error("depth = 3\n" + least), HasSubstr("'depth' is not a known key"));
    EXPECT_THAT(error(replaced("gpus = 2", "gpus = 2\ngpu = 3")), HasSubstr("'gpu' is not"));
    EXPECT_THAT(error(replaced("gpus = 1", "gpus = 1\nname = 'v100'")), HasSubstr("'name'"));
    EXPECT_THAT(error(least + "hidden = 1\n"), HasSubstr("'hidden'"));
    EXPECT_THAT(error(least + "[sync]\nhead_s = 1\n"), HasSubstr("'head_s'"));
}

TEST(HetermoeProfile, RefusesNumbersThatMeanNothing) {
    for (const char* count : {"0", "-1", "4097", "1.5", "'3'", "true"}) {
        EXPECT_THAT(error(replaced("layers = 3", std::string("layers = ") + count)),
                    HasSubstr("from 1 to 4096"));
        EXPECT_THAT(error(replaced("experts = 6", std::string("experts = ") + count)),
                    HasSubstr("from 1 to 4096"));
        EXPECT_THAT(error(replaced("gpus = 1", std::string("gpus = ") + count)),
                    HasSubstr("from 1 to 4096"));
        EXPECT_THAT(error(replaced("[4, 2]", std::string("[") + count + "]")),
                    HasSubstr("from 1 to 4096"));
    }
    for (const char* seconds :
         {"0", "0.0", "4e-10", "-1", "-1e-12", "-0.0", "nan", "inf", "-inf", "1000000.1", "'1'"}) {
        EXPECT_THAT(error(replaced("0.75", seconds)), HasSubstr("attention_s")) << seconds;
        EXPECT_THAT(error(replaced("8e-1", seconds)), HasSubstr("expert_s")) << seconds;
    }
    for (const char* seconds : {"-1", "nan", "inf", "1000000.1", "'1'"}) {
        EXPECT_THAT(error(replaced("seconds = 0", std::string("seconds = ") + seconds)),
                    HasSubstr("seconds"));
        EXPECT_THAT(error(replaced("gpus = 2", std::string("gpus = 2\nhead_s = ") + seconds)),
                    HasSubstr("head_s"));
        EXPECT_THAT(error(least + "[sync]\ndense_s = " + seconds + '\n'), HasSubstr("dense_s"));
    }
    EXPECT_THAT(error(least + "ep_exposed = -0.5\n"), HasSubstr("must not be negative"));
    EXPECT_THAT(error(least + "ep_exposed = 1e-300\n"), HasSubstr("fewer digits"));
    EXPECT_THAT(error(replaced("gpus = 2", "gpus = 2\ncapacity = -1")), HasSubstr("capacity"));
    EXPECT_THAT(error(replaced("gpus = 2", "gpus = 2\ncapacity = 1.5")), HasSubstr("capacity"));
    EXPECT_NO_THROW(read_profile(replaced("gpus = 2", "gpus = 2\ncapacity = 5000"), "p"));
}

TEST(HetermoeProfile, RefusesMicroBatchesGivenTwiceOrNot) {
    EXPECT_THAT(error(replaced("[4, 2]", "[4, 2, 4]")), HasSubstr("has 4 twice"));
    EXPECT_THAT(error(replaced("[4, 2]", "[]")), HasSubstr("must be an array"));
    EXPECT_THAT(error(replaced("[4, 2]", "4")), HasSubstr("must be an array"));
    EXPECT_THAT(error("layers ="), HasSubstr("not valid TOML"));
    EXPECT_THAT(error(least + "new = 3\n"), HasSubstr("p.toml:"));
}

}  // namespace
}  // namespace assay::hetermoe
