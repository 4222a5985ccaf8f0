// The flag grammar: what is read, canonical text, and golden errors with positions.
#include <gtest/gtest.h>

#include "suite/scenario/fault_plan.hpp"
#include "tests/scenario/own_phases.hpp"

namespace {

// The error without the fault's text in front and the grammar behind: "position 6: …".
std::string complaint(std::string_view text) {
    try {
        assay::parse_fault(text, own_phases);
    } catch (const assay::ScenarioError& error) {
        const std::string what = error.what();
        const auto from = what.rfind(", position ") + 2;
        return what.substr(from, what.find("; the form is ") - from);
    }
    return "accepted";
}

std::string canonical(std::string_view text) {
    return assay::to_string(assay::parse_fault(text, own_phases));
}

}  // namespace

TEST(FaultText, ReadsAKill) {
    const assay::Fault fault = assay::parse_fault("kill:rank=1@step=5", own_phases);
    EXPECT_EQ(fault.kind, assay::FaultKind::kill);
    EXPECT_EQ(fault.rank, 1);
    EXPECT_EQ(fault.step, 5);
    EXPECT_EQ(fault.t_s, std::nullopt);
    EXPECT_EQ(fault.phase, "");
}

TEST(FaultText, ReadsEveryKeyOfALink) {
    assay::Fault expected;
    expected.kind = assay::FaultKind::link;
    expected.rank = 2;
    expected.peer = 3;
    expected.latency_s = 0.01;
    expected.bandwidth = 1e6;
    expected.loss = 0.05;
    expected.t_s = 3;
    expected.for_s = 5;
    EXPECT_EQ(assay::parse_fault(
                  "link:rank=2,peer=3,latency=0.01,bandwidth=1e6,loss=0.05@t=3,for=5", own_phases),
              expected);
    expected = {};
    expected.kind = assay::FaultKind::link;
    expected.rank = 2;
    expected.cut = true;
    expected.step = 4;
    EXPECT_EQ(assay::parse_fault("link:rank=2,cut=1@step=4", own_phases), expected);
}

TEST(FaultText, ReadsSlowAndCorrupt) {
    assay::Fault slow;
    slow.kind = assay::FaultKind::slow;
    slow.rank = 1;
    slow.factor = 4;
    slow.step = 5;
    slow.for_s = 10;
    EXPECT_EQ(assay::parse_fault("slow:rank=1,factor=4@step=5,for=10", own_phases), slow);
    assay::Fault corrupt;
    corrupt.kind = assay::FaultKind::corrupt;
    corrupt.rank = 1;
    corrupt.target = "tensor";
    corrupt.step = 3;
    EXPECT_EQ(assay::parse_fault("corrupt:rank=1,target=tensor@step=3", own_phases), corrupt);
}

TEST(FaultText, CanonicalFormIsAFixedPoint) {
    for (const char* text :
         {"kill:rank=1@step=5",
          "kill:rank=1,phase=regroup@t=0.25",
          "hang:rank=2@step=3,for=0.5",
          "hang:rank=0@t=3",
          "stop:rank=7@step=0",
          "join:count=3@step=4",
          "hang:rank=2@t=1e-07,for=1000000000",
          "slow:rank=1,factor=4@step=5,for=10",
          "slow:rank=1,factor=1.5@t=2",
          "slow:rank=1,factor=3,by=quota@step=5",
          "slow:rank=1,factor=3,by=duty_cycle@step=5,for=1",
          "link:rank=2,peer=3,latency=0.01,bandwidth=1000000,loss=0.05@t=3,for=5",
          "link:rank=2,cut=1@step=4,for=1",
          "link:rank=2,peer=0,cut=1@step=4",
          "link:rank=2,loss=0.5@t=0.1",
          "corrupt:rank=1,target=message@step=3",
          "corrupt:rank=1,phase=transfer,target=message@step=3",
          "corrupt:rank=1,target=tensor@t=1",
          "nan:rank=1@step=4",
          "torn:rank=0@step=6",
          "disk_full:rank=0@step=6",
          "disk_full:rank=0@step=6,for=2.5",
          "wipe:rank=2@t=0.5",
          "gpu_error:rank=2,role=server@step=3",
          "kill:rank=1,role=engine@step=5",
          "hang:instance=spot-3.eu/a@t=2,for=0.5",
          "join:role=engine,instance=spot-4,count=1@t=2"})
        EXPECT_EQ(canonical(text), text);
    EXPECT_EQ(canonical("join@step=4"), "join:count=1@step=4");
    EXPECT_EQ(canonical("kill:phase=transfer,rank=1@step=5"), "kill:rank=1,phase=transfer@step=5");
    EXPECT_EQ(canonical("hang:rank=1@for=2.50,t=1.0"), "hang:rank=1@t=1,for=2.5");
    EXPECT_EQ(canonical("link:loss=0.050,bandwidth=1e6,latency=1e-2,peer=3,rank=2@for=5,t=3"),
              "link:rank=2,peer=3,latency=0.01,bandwidth=1000000,loss=0.05@t=3,for=5");
    EXPECT_EQ(canonical("link:rank=2,cut=0,latency=0,loss=0.1@step=4"),
              "link:rank=2,loss=0.1@step=4");
    EXPECT_EQ(canonical("  kill:rank=1@step=5 "), "kill:rank=1@step=5");
}

TEST(FaultText, PlansAreSeparatedBySemicolonsOrLines) {
    const auto plan = assay::parse_fault_plan(
        "kill:rank=1@step=5;\n\n join@step=6 ; \nhang:rank=0@step=7,for=1", own_phases);
    EXPECT_EQ(assay::to_string(plan),
              "kill:rank=1@step=5;join:count=1@step=6;hang:rank=0@step=7,for=1");
    EXPECT_EQ(assay::parse_fault_plan(assay::to_string(plan), own_phases), plan);
    EXPECT_TRUE(assay::parse_fault_plan("", own_phases).empty());
    EXPECT_TRUE(assay::parse_fault_plan(" ;\n; ", own_phases).empty());
}

TEST(FaultText, TheWholeMessage) {
    try {
        assay::parse_fault("kill:rank=x@step=5", own_phases);
        FAIL() << "accepted";
    } catch (const assay::ScenarioError& error) {
        EXPECT_STREQ(error.what(),
                     "fault 'kill:rank=x@step=5', position 11: 'x' is not a whole number from 0 to "
                     "1000000; the form "
                     "is KIND:key=value,…@step=N|t=SECONDS[,for=SECONDS]");
    }
}

TEST(FaultText, GoldenErrors) {
    EXPECT_EQ(complaint(""),
              "position 1: unknown kind ''; known are kill, hang, stop, join, slow, link, corrupt, "
              "nan, torn, disk_full, wipe, gpu_error");
    EXPECT_EQ(complaint("explode:rank=1@step=5"),
              "position 1: unknown kind 'explode'; known are kill, hang, stop, join, slow, link, "
              "corrupt, "
              "nan, torn, disk_full, wipe, gpu_error");
    EXPECT_EQ(complaint("kill:rank=1"), "position 12: '@step=N' or '@t=SECONDS' is missing");
    EXPECT_EQ(complaint("kill:rank@step=5"),
              "position 10: '=' and a value are missing after 'rank'");
    EXPECT_EQ(complaint("kill:@step=5"), "position 6: '=' and a value are missing after ''");
    EXPECT_EQ(complaint("kill:rank=1@"), "position 13: '=' and a value are missing after ''");
    EXPECT_EQ(complaint("kill:rnk=1@step=5"),
              "position 6: unknown key 'rnk'; kill takes rank, role, instance, phase, step, t");
    EXPECT_EQ(complaint("kill:role=engine@step=5"),
              "position 1: of role engine, which? it needs a rank among them");
    EXPECT_EQ(complaint("kill:rank=1,instance=x@step=5"),
              "position 1: takes a rank or an instance, not both");
    EXPECT_EQ(complaint("kill:instance=a b@step=5"),
              "position 15: 'a b' is not a name of at most 64 letters, digits and _-./");
    EXPECT_EQ(complaint("kill:rank=1,rank=2@step=5"), "position 13: 'rank' is given twice");
    EXPECT_EQ(complaint("kill:step=5@rank=1"), "position 6: 'step' belongs after the '@'");
    EXPECT_EQ(complaint("kill:rank=1@step=5,phase=step"),
              "position 20: 'phase' belongs before the '@'");
    EXPECT_EQ(complaint("kill:rank=1@step=5@t=2"), "position 19: unexpected '@'");
    EXPECT_EQ(complaint("kill:rank=1,phase=later@step=5"),
              "position 19: 'later' is not one of step, regroup, transfer");
    EXPECT_EQ(complaint("kill:rank=1@step=5,t=3"), "position 1: takes a step or a time, not both");
    EXPECT_EQ(complaint("kill:rank=1@for=3"),
              "position 13: only hang, slow, link, disk_full take 'for'");
    EXPECT_EQ(complaint("kill@step=3"),
              "position 1: kill needs a rank, for example kill:rank=1@step=5");
    EXPECT_EQ(complaint("kill:rank=1,count=1@step=3"), "position 13: only join takes 'count'");
    EXPECT_EQ(complaint("join:rank=1@step=3"),
              "position 6: a join takes no rank: the newcomer gets the next free name");
    EXPECT_EQ(complaint("stop:rank=1,phase=regroup@step=3"),
              "position 13: a stop takes no phase: the worker finishes its step and leaves");
    EXPECT_EQ(complaint("hang:rank=1@step=3,for=0"),
              "position 24: '0' is not a number of seconds above 0 up to 1000000000");
}

TEST(FaultText, ASlipOfAWordIsNamed) {
    EXPECT_EQ(complaint("kill:rank=1,phase=regrup@step=5"),
              "position 19: 'regrup' is not one of step, regroup, transfer (did you mean "
              "'regroup'?)");
    EXPECT_EQ(complaint("slow:rank=1,factor=2,by=quote@step=5"),
              "position 25: 'quote' is not one of quota, duty_cycle (did you mean 'quota'?)");
}

TEST(FaultText, PhasesAreThoseThatTheSystemDeclares) {
    const assay::FaultPhases phases{{.name = "prefill", .says = "", .corruptible = true},
                                    {.name = "decode", .says = ""}};
    const auto complaint_of = [&](const char* text, const assay::FaultPhases& declared) {
        try {
            assay::parse_fault(text, declared);
        } catch (const assay::ScenarioError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_EQ(complaint_of("kill:rank=1,phase=decode@step=5", phases), "accepted");
    EXPECT_EQ(complaint_of("corrupt:rank=1,phase=prefill,target=message@step=5", phases),
              "accepted");
    EXPECT_NE(complaint_of("corrupt:rank=1,phase=decode,target=message@step=5", phases)
                  .find("whose messages it can strike: prefill"),
              std::string::npos);
    EXPECT_NE(complaint_of("kill:rank=1,phase=regroup@step=5", phases)
                  .find("'regroup' is not one of step, prefill, decode;"),
              std::string::npos);
    EXPECT_EQ(complaint_of("kill:rank=1,phase=step@step=5", {}), "accepted");
    EXPECT_NE(complaint_of("kill:rank=1,phase=decode@step=5", {}).find("is not one of step;"),
              std::string::npos);
    EXPECT_NE(complaint_of("corrupt:rank=1,phase=step,target=message@step=5", {})
                  .find("corrupt takes no phase here"),
              std::string::npos);
}

TEST(FaultText, EachKindHasItsOwnKeys) {
    EXPECT_EQ(complaint("slow:rank=1,speed=2@step=5"),
              "position 13: unknown key 'speed'; slow takes rank, role, instance, factor, by, "
              "step, t, for");
    EXPECT_EQ(complaint("link:rank=1,los=2@step=5"),
              "position 13: unknown key 'los'; link takes rank, role, instance, peer, latency, "
              "bandwidth, loss, cut, "
              "step, t, for");
    // Also where the value is the one that the key has when it is absent.
    EXPECT_EQ(complaint("kill:rank=1,latency=0@step=5"), "position 13: only link takes 'latency'");
    EXPECT_EQ(complaint("slow:rank=1,factor=2,peer=0@step=5"),
              "position 22: only link takes 'peer'");
    EXPECT_EQ(complaint("kill:rank=1,factor=2@step=5"), "position 13: only slow takes 'factor'");
    EXPECT_EQ(complaint("hang:rank=1,by=quota@step=5"), "position 13: only slow takes 'by'");
    EXPECT_EQ(complaint("nan:rank=1,target=tensor@step=5"),
              "position 12: only corrupt takes 'target'");
    EXPECT_EQ(complaint("slow:rank=1,phase=regroup,factor=2@step=5"),
              "position 13: only kill, hang, corrupt take 'phase'");
    for (const char* kind : {"corrupt:target=tensor,", "nan:", "torn:", "kill:", "stop:"})
        EXPECT_NE(complaint(kind + std::string("rank=1@step=5,for=1")), "accepted") << kind;
    for (const char* kind : {"slow:factor=2,", "link:loss=0.1,", "disk_full:", "hang:"})
        EXPECT_EQ(complaint(kind + std::string("rank=1@step=5,for=1")), "accepted") << kind;
}

TEST(FaultText, WhatEachKindNeeds) {
    EXPECT_EQ(complaint("slow:rank=1@step=5"),
              "position 1: slow needs a factor, for example slow:rank=1,factor=4@step=5,for=10");
    EXPECT_EQ(complaint("link:rank=1@step=5"),
              "position 1: link needs latency, bandwidth, loss or cut, for example "
              "link:rank=1,peer=2,latency=0.01@step=5,for=10");
    EXPECT_NE(complaint("link:rank=1,latency=0,cut=0@step=5"), "accepted") << "nothing happens";
    EXPECT_EQ(
        complaint("corrupt:rank=1@step=5"),
        "position 1: corrupt needs a target, for example corrupt:rank=1,target=message@step=5");
    EXPECT_EQ(complaint("link:rank=1,peer=1,loss=0.1@step=5"),
              "position 1: rank and peer are both 1: a worker has no link to itself");
    for (const char* shape : {"latency=1", "bandwidth=9", "loss=0.5"})
        EXPECT_EQ(complaint("link:rank=1,cut=1," + std::string(shape) + "@step=5"),
                  "position 1: a cut link passes nothing: leave out latency, bandwidth and loss");
    for (const char* phase : {"phase=transfer,target=tensor", "phase=regroup,target=message",
                              "phase=step,target=message"})
        EXPECT_EQ(complaint("corrupt:rank=1," + std::string(phase) + "@step=5"),
                  "position 1: corrupt takes a phase only with target=message, and only one whose "
                  "messages it can strike: transfer");
    for (const char* kind : {"slow:factor=2", "link:cut=1", "corrupt:target=tensor"})
        EXPECT_NE(complaint(kind + std::string("@step=5")).find("needs a rank"), std::string::npos);
    for (const char* kind : {"nan", "torn", "disk_full"})
        EXPECT_EQ(complaint(kind + std::string("@step=5")), "position 1: " + std::string(kind) +
                                                                " needs a rank, for example " +
                                                                kind + ":rank=1@step=5");
}

TEST(FaultText, RangesEndWhereTheySay) {
    EXPECT_EQ(complaint("slow:rank=1,factor=1@step=5"),
              "position 20: '1' is not a number above 1 up to 1000");
    EXPECT_EQ(complaint("link:rank=1,loss=1@step=5"),
              "position 18: '1' is not a number from 0 to below 1");
    EXPECT_EQ(complaint("link:rank=1,bandwidth=0@step=5"),
              "position 23: '0' is not a number of bytes/s above 0 up to 1000000000000000");
    EXPECT_EQ(complaint("link:rank=1,latency=3601@step=5"),
              "position 21: '3601' is not a number of seconds from 0 to 3600");
    EXPECT_EQ(complaint("link:rank=1,cut=2@step=5"), "position 17: '2' is not 0 or 1");
    EXPECT_EQ(complaint("corrupt:rank=1,target=disk@step=5"),
              "position 23: 'disk' is not one of message, tensor");
    for (const char* good :
         {"slow:rank=1,factor=1000@step=5", "slow:rank=1,factor=1.0000001@step=5",
          "link:rank=1,loss=0.999999@step=5", "link:rank=1,latency=3600@step=5",
          "link:rank=1,bandwidth=1e-300@step=5", "link:rank=1,loss=0,latency=1@step=5"})
        EXPECT_EQ(complaint(good), "accepted") << good;
    for (const char* bad : {"slow:rank=1,factor=1000.1@step=5", "slow:rank=1,factor=nan@step=5",
                            "slow:rank=1,factor=0.5@step=5", "link:rank=1,loss=-0.1@step=5",
                            "link:rank=1,loss=-0,latency=1@step=5", "link:rank=1,loss=nan@step=5",
                            "link:rank=1,latency=-1@step=5", "link:rank=1,bandwidth=-1@step=5",
                            "link:rank=1,bandwidth=inf@step=5",
                            "link:rank=1,peer=-1,loss=0.1@step=5", "link:rank=1,cut=true@step=5"})
        EXPECT_NE(complaint(bad), "accepted") << bad;
}

TEST(FaultText, RefusesNumbersThatAreNone) {
    for (const char* number :
         {"", "-1", "+1", " 1", "1.5", "0x1", "nan", "1e3", "99999999999999999999"})
        EXPECT_NE(complaint("kill:rank=1@step=" + std::string(number)), "accepted") << number;
    for (const char* number : {"", "-1", "-0", "nan", "inf", "1e999", "1e10", "1s", "0x1"})
        EXPECT_NE(complaint("kill:rank=1@t=" + std::string(number)), "accepted") << number;
    EXPECT_NE(complaint("kill:rank=4294967297@step=1"), "accepted") << "does not wrap around";
    EXPECT_NE(complaint("join:count=0@step=1"), "accepted");
    EXPECT_EQ(complaint("kill:rank=1@t=0"), "accepted");
}

TEST(FaultText, ErrorsFitOnOneLineOfATerminal) {
    try {
        assay::parse_fault("kill\n\x1b[31m:" + std::string(5000, 'x'), own_phases);
        FAIL() << "accepted";
    } catch (const assay::ScenarioError& error) {
        const std::string what = error.what();
        EXPECT_EQ(what.find_first_of("\n\x1b"), std::string::npos);
        EXPECT_LT(what.size(), 500u);
    }
}
