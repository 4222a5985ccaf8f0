// assay model batch as a user runs it, on a toy model.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/model/model_program.hpp"

namespace assay::model {
namespace {

class ModelBatch : public ModelProgram {
  protected:
    nlohmann::json batch(const std::string& requests, std::vector<std::string> more = {}) {
        std::vector<std::string> arguments{"model", "batch", file, "--requests",
                                           write("requests.jsonl", requests)};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return assay_json(arguments);
    }
};

TEST_F(ModelBatch, TellsOfEveryRequestAndOfTheEngine) {
    const nlohmann::json result = batch(
        "{\"id\":\"a\",\"ids\":[72,105,33],\"max_tokens\":6}\n"
        "{\"id\":2,\"ids\":[72,105,33],\"max_tokens\":2,\"prompt_logprobs\":true,\"stop_ids\":[]}\n"
        "{\"id\":\"c\",\"ids\":[1],\"at_step\":3,\"cancel_at\":3}\n");
    EXPECT_EQ(keys_of(result), (std::vector<std::string>{"engine", "requests"}));
    EXPECT_EQ(keys_of(result["engine"]),
              (std::vector<std::string>{"block", "computed_tokens", "held_blocks", "peak_blocks",
                                        "preemptions", "reused_tokens", "seconds", "steps"}));
    ASSERT_EQ(result["requests"].size(), 3u);
    const nlohmann::json& first = result["requests"][0];
    EXPECT_EQ(keys_of(first),
              (std::vector<std::string>{"finish", "id", "ids", "logprobs", "preemptions", "reused",
                                        "sampled_logprobs", "text", "versions"}));
    EXPECT_EQ(first["sampled_logprobs"],
              nlohmann::json(std::vector<double>(first["ids"].size(), 0)));  // the likeliest each
    EXPECT_EQ(first["id"], "a");
    EXPECT_EQ(first["finish"], "length");
    EXPECT_EQ(first["ids"], assay_json({"model", "generate", wordless, "--ids", "72,105,33",
                                        "--max-tokens", "6"})["ids"]);
    EXPECT_EQ(first["versions"], std::vector<int>(6, 1));
    const nlohmann::json& second = result["requests"][1];
    EXPECT_EQ(second["id"], 2);
    ASSERT_EQ(second["prompt_logprobs"].size(), 3u);
    EXPECT_TRUE(second["prompt_logprobs"][0].is_null());
    EXPECT_LT(second["prompt_logprobs"][2].get<double>(), 0);
    EXPECT_EQ(second["ids"][0], first["ids"][0]);
    EXPECT_EQ(second["logprobs"][0], first["logprobs"][0]);
    EXPECT_EQ(result["requests"][2]["finish"], "cancelled");
    EXPECT_EQ(result["requests"][2]["ids"].size(), 0u);
    EXPECT_EQ(result["engine"]["steps"], 6);
    EXPECT_EQ(result["engine"]["computed_tokens"], 8 + 4);
    EXPECT_EQ(result["engine"]["held_blocks"], 0);
    EXPECT_EQ(result["engine"]["block"], 16);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// The file's pages and what was made of them are not in memory together: weights, cache and 64 MiB.
TEST_F(ModelBatch, TakesTheMemoryOfTheWeightsAndLittleMore) {
    nn::DecoderConfig config = model.config;
    config.layers = 7;
    config.hidden = 16384;
    const auto large = folder / "large.gguf";
    nn::write_bytes(large, nn::gguf_of(nn::toy_model(config, 5)).bytes());
    file = large.string();
    const nlohmann::json result = batch("{\"id\":1,\"ids\":[72,105,33],\"max_tokens\":6}\n");
    EXPECT_EQ(result["requests"][0]["ids"].size(), 6u);
    rusage used{};
    ASSERT_EQ(getrusage(RUSAGE_CHILDREN, &used), 0);
    const double most_bytes = 1024.0 * static_cast<double>(used.ru_maxrss);  // of any child so far
    const auto weights = static_cast<double>(std::filesystem::file_size(large));
    ASSERT_GT(weights, 80e6);
    EXPECT_LT(most_bytes, weights + 64 * 1024 * 1024);
}
#endif

TEST_F(ModelBatch, SameBitsHoweverItIsRun) {
    std::string requests;
    for (int i = 0; i < 8; ++i) {
        requests += "{\"id\":" + std::to_string(i) + ",\"ids\":[72,105,33,10,11,12,13,14,15,16,17";
        for (int k = 0; k < i; ++k) requests += "," + std::to_string(20 + 3 * k + i % 2);
        requests += "],\"max_tokens\":20,\"temperature\":" + std::to_string(i % 3) + "}\n";
    }
    const nlohmann::json plain = batch(requests);
    EXPECT_GT(plain["engine"]["reused_tokens"].get<int>(), 0);
    const auto expect_same = [&](std::vector<std::string> more) {
        const nlohmann::json other = batch(requests, more);
        for (std::size_t i = 0; i < 8; ++i)
            for (const char* const key : {"ids", "logprobs", "finish"})
                EXPECT_EQ(other["requests"][i][key], plain["requests"][i][key]) << more[0] << key;
        EXPECT_EQ(other["engine"]["held_blocks"], 0);
        return other["engine"];
    };
    expect_same({"--max-batch", "1"});
    expect_same({"--chunk", "3", "--threads", "1"});
    EXPECT_EQ(expect_same({"--prefix", "off"})["reused_tokens"], 0);
    EXPECT_GT(expect_same({"--kv-blocks", "5"})["preemptions"].get<int>(), 0);
    EXPECT_GT(expect_same({"--kv-blocks", "5", "--preempt", "swap"})["preemptions"].get<int>(), 0);
    EXPECT_GT(expect_same({"--move-at", "5"})["computed_tokens"],
              plain["engine"]["computed_tokens"]);
    EXPECT_GT(expect_same({"--reload-at", "5"})["computed_tokens"],
              plain["engine"]["computed_tokens"]);
    const nlohmann::json versions =
        batch(requests, {"--reload-at", "5"})["requests"][0]["versions"];
    EXPECT_EQ(versions[0], 1);
    EXPECT_EQ(versions.back(), 2);
}

TEST_F(ModelBatch, StopsAtTheModelsEndOfText) {
    // A forced end of text is no end.
    const nlohmann::json result = batch(
        "{\"id\":1,\"ids\":[72],\"forced_ids\":[256,7]}\n"
        "{\"id\":2,\"ids\":[72,105,33],\"max_tokens\":40,\"stop_ids\":[" +
        assay_json(
            {"model", "generate", wordless, "--ids", "72,105,33", "--max-tokens", "3"})["ids"][2]
            .dump() +
        "]}\n");
    EXPECT_EQ(result["requests"][0]["ids"], (std::vector<int>{256, 7}));
    EXPECT_EQ(result["requests"][0]["finish"], "length");
    EXPECT_EQ(result["requests"][1]["finish"], "stop");
    EXPECT_LE(result["requests"][1]["ids"].size(), 3u);
}

TEST_F(ModelBatch, PromptsAndStopsAreTexts) {
    const nlohmann::json alone =
        assay_json({"model", "generate", file, "--prompt", "Hi!", "--max-tokens", "6"});
    const std::vector<int> ids = alone["ids"];
    ASSERT_EQ(ids.size(), 6u);
    // Stop strings are UTF-8 here: of bytes that are none, only what is.
    const std::string requests =
        "{\"id\":\"ids\",\"ids\":[72,105,33],\"max_tokens\":6}\n"
        "{\"id\":\"text\",\"prompt\":\"Hi!\",\"max_tokens\":6,\"stop\":[\"never there\"]}\n"
        "{\"id\":\"forced\",\"prompt\":\"Hi!\",\"forced_ids\":[97,98,256,99],\"stop\":\"ab\"}\n";
    const nlohmann::json result = batch(requests);
    for (const int number : {0, 1})
        for (const char* const key : {"ids", "text", "finish"})
            EXPECT_EQ(result["requests"][number][key], alone[key]) << number << key;
    EXPECT_EQ(result["requests"][2]["text"], "ab<|endoftext|>c") << "nothing stops forced ids";
    EXPECT_EQ(result["requests"][2]["finish"], "length");

    file = wordless;
    EXPECT_EQ(batch("{\"id\":1,\"ids\":[72]}")["requests"][0]["text"], nullptr);
}

TEST_F(ModelBatch, StopStringsAcrossTokensHoweverItIsRun) {
    file = (folder / "x.gguf").string();
    nn::write_bytes(file, toy_language_file(toy_model_saying('x')).bytes());
    const std::string requests =
        "{\"id\":1,\"prompt\":\"a\",\"max_tokens\":9,\"stop\":\"xxx\"}\n"
        "{\"id\":2,\"prompt\":\"a\",\"max_tokens\":9,\"stop\":[\"xy\",\"xxxxx\"],\"at_step\":1}\n"
        "{\"id\":3,\"prompt\":\"a\",\"max_tokens\":3,\"stop\":\"xxx\"}\n"
        "{\"id\":4,\"prompt\":\"a\",\"max_tokens\":4,\"stop\":\"xxxxx\"}\n";
    const auto expect_answers = [&](std::vector<std::string> more) {
        const nlohmann::json result = batch(requests, more);
        const auto expect_answer = [&](int number, std::size_t made, const char* text,
                                       const char* finish) {
            const nlohmann::json& answer = result["requests"][number];
            EXPECT_EQ(answer["ids"], std::vector<int>(made, 'x')) << number;
            EXPECT_EQ(answer["logprobs"].size(), made);
            EXPECT_EQ(answer["text"], text) << number;
            EXPECT_EQ(answer["finish"], finish) << number;
        };
        expect_answer(0, 3, "", "stop");
        expect_answer(1, 5, "", "stop");
        expect_answer(2, 3, "", "stop");
        expect_answer(3, 4, "xxxx", "length");
        EXPECT_EQ(result["engine"]["held_blocks"], 0);
    };
    expect_answers({});
    expect_answers({"--max-batch", "1"});
    expect_answers({"--move-at", "2"});
    expect_answers({"--reload-at", "3"});
    expect_answers({"--kv-blocks", "2"});
    const testing::Printed printed =
        assay({"model", "batch", file, "--requests", write("r.jsonl", requests)});
    EXPECT_EQ(printed.out, "1  stop: \n2  stop: \n3  stop: \n4  length: xxxx\n");
}

TEST_F(ModelBatch, NamesAndTextsOfOthersAreWrittenOut) {
    file = (folder / "escape.gguf").string();
    nn::write_bytes(file, toy_language_file(toy_model_saying('\x1b')).bytes());
    const testing::Printed printed =
        assay({"model", "batch", file, "--requests",
               write("r.jsonl", "{\"id\":\"\\u202e\",\"prompt\":\"a\",\"max_tokens\":2}")});
    EXPECT_EQ(printed.out, "\"\\u202e\"  length: \\x1b\\x1b\n");
}

TEST_F(ModelBatch, Refusals) {
    const auto refused = [&](const std::string& requests, const std::string& part,
                             std::vector<std::string> more = {}) {
        std::vector<std::string> arguments{"batch", file, "--requests", write("r.jsonl", requests),
                                           "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        expect_refused(arguments, part);
    };
    const std::string good = "{\"id\":1,\"ids\":[1]}\n";
    refused(good + "{\"id\":2,\"ids\":[259]}", "r.jsonl:2: ids: 259 is no token id");
    refused(good + good, "r.jsonl:2: the id 1 came before");
    refused("\n\n", "r.jsonl: no requests");
    refused(good + "{\"id\":2,\"prompt\":\"a\",\"ids\":[1]}", "give one of them");
    EXPECT_EQ(
        assay_given(good + "{\"id\":2,\"ids\":[1],\"temperature\":1e400}",
                    {"model", "batch", file, "--requests", "-"})
            .err,
        "assay: standard input:2:33: not valid JSON: the number 1e400 is too large; a request "
        "is a line of JSON: {\"id\":\"a\",\"ids\":[1,2]}\n");
    file = wordless;
    refused("{\"id\":2,\"prompt\":\"a\"}", "r.jsonl:1: prompt: ");
    refused("{\"id\":2,\"prompt\":\"a\"}", "; give ids");
    file = (folder / "no_cr.gguf").string();
    nn::write_bytes(file, toy_language_file(model, "\r").bytes());
    refused("{\"id\":2,\"prompt\":\"a\\r\"}",
            "r.jsonl:1: prompt: the model's vocabulary has no token");
    refused("{\"id\":1,\"ids\":[1],\"seeds\":3}", "r.jsonl:1: there is no key \"seeds\"");
    refused("{\"id\":1,\"ids\":[1],\"max_tokens\":33}", "give --kv-blocks 3 or more",
            {"--kv-blocks", "2"});
    refused(good, "--max-batch", {"--max-batch", "0"});
    refused(good, "--chunk", {"--chunk", "0"});
    refused(good, "--kv-blocks", {"--kv-blocks", "0"});
    refused(good, "--prefix", {"--prefix", "maybe"});
    refused(good, "--preempt", {"--preempt", "never"});
    refused(good, "--move-at", {"--move-at", "-1"});
    refused(good, "--reload-at", {"--reload-at", "x"});
    expect_refused({"batch", file, "--requests", (folder / "none").string()}, "none: No such file");
    expect_refused({"batch", file, "--requests", folder.path().string()}, "a folder");
    expect_refused({"batch", file}, "--requests");
}

}  // namespace
}  // namespace assay::model
