#include "impls/decode/requests/request_file.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

const RequestLimits limits{.vocabulary = 100, .context = 48, .blocks = 4, .stop_ids = {2}};

std::vector<NamedJob> read(const std::string& text) {
    std::istringstream in(text);
    return read_requests(in, "r.jsonl", limits);
}

TEST(RequestFile, DefaultsAndKeys) {
    const auto jobs = read(
        "{\"id\":\"a\",\"ids\":[1,99]}\n\n"
        "{\"id\":7,\"ids\":[1],\"max_tokens\":3,\"temperature\":0.5,\"top_k\":4,\"top_p\":0.9,"
        "\"seed\":18446744073709551615,\"stop_ids\":[],\"priority\":-2,\"at_step\":5,"
        "\"cancel_at\":9,\"prompt_logprobs\":true}\r\n"
        "{\"id\":\"7\",\"ids\":[1],\"forced_ids\":[4,5,6],\"max_tokens\":9}");
    ASSERT_EQ(jobs.size(), 3u);
    const BatchRequest& first = jobs[0].job.request;
    EXPECT_EQ(jobs[0].id, "\"a\"");
    EXPECT_EQ(first.prompt, (std::vector<int>{1, 99}));
    EXPECT_EQ(first.max_tokens, 16);
    EXPECT_EQ(first.sampling.temperature, 0);
    EXPECT_EQ(first.sampling.top_k, 0);
    EXPECT_EQ(first.sampling.top_p, 1);
    EXPECT_EQ(first.sampling.seed, 1u);
    EXPECT_EQ(first.stop_ids, std::vector<int>{2});
    EXPECT_FALSE(first.prompt_log_probabilities);
    EXPECT_EQ(jobs[0].job.at_step, 0);
    EXPECT_EQ(jobs[0].job.cancel_at, std::nullopt);
    const BatchRequest& second = jobs[1].job.request;
    EXPECT_EQ(jobs[1].id, "7");
    EXPECT_EQ(second.sampling.seed, 18446744073709551615u);
    EXPECT_EQ(second.sampling.top_k, 4);
    EXPECT_TRUE(second.stop_ids.empty());
    EXPECT_EQ(second.priority, -2);
    EXPECT_EQ(jobs[1].job.at_step, 5);
    EXPECT_EQ(jobs[1].job.cancel_at, 9);
    EXPECT_TRUE(second.prompt_log_probabilities);
    EXPECT_EQ(jobs[2].job.request.max_tokens, 3);
    EXPECT_EQ(read("{\"id\":1,\"ids\":[-0],\"seed\":-0}")[0].job.request.sampling.seed, 0u);
}

TEST(RequestFile, NoRequestsAreAnError) {
    for (const char* const nothing : {"", "\n", "\n  \n\t\r\n"}) {
        try {
            read(nothing);
            ADD_FAILURE();
        } catch (const UserError& error) {
            EXPECT_TRUE(std::string(error.what()).starts_with("r.jsonl: no requests"))
                << error.what();
        }
    }
}

/// Ids are bytes; there is none for "~".
std::vector<int> bytes_of(const std::string& text) {
    if (text.find('~') != std::string::npos) throw UserError("no token for 0x7e");
    return {text.begin(), text.end()};
}

TEST(RequestFile, PromptsAndStopsAreTexts) {
    RequestLimits with_tokenizer = limits;
    with_tokenizer.encode = bytes_of;
    const auto read_texts = [&](const std::string& text) {
        std::istringstream in(text);
        return read_requests(in, "r.jsonl", with_tokenizer);
    };
    const auto jobs = read_texts(
        "{\"id\":1,\"prompt\":\"AB\",\"stop\":\".\"}\n"
        "{\"id\":2,\"ids\":[1],\"stop\":[\"a\",\"\\n\"]}\n{\"id\":3,\"ids\":[1],\"stop\":[]}");
    EXPECT_EQ(jobs[0].job.request.prompt, (std::vector<int>{'A', 'B'}));
    EXPECT_TRUE(jobs[0].as_text);
    EXPECT_EQ(jobs[0].job.request.stops, std::vector<std::string>{"."});
    EXPECT_EQ(jobs[0].job.request.stop_ids, std::vector<int>{2}) << "those of the model, too";
    EXPECT_FALSE(jobs[1].as_text);
    EXPECT_EQ(jobs[1].job.request.stops, (std::vector<std::string>{"a", "\n"}));
    EXPECT_TRUE(jobs[2].job.request.stops.empty());
    for (const auto& [more, part] : {std::pair{"\"prompt\":7", "prompt is 7; give a text"},
                                     {"\"prompt\":\"\"", "give a text that is not empty"},
                                     {"\"prompt\":\"a~\"", "prompt: no token for 0x7e"},
                                     {"\"ids\":[1],\"prompt\":\"a\"", "give one of them"},
                                     {"\"ids\":[1],\"stop\":7", "stop is 7; give a text"},
                                     {"\"ids\":[1],\"stop\":\"\"", "not empty"},
                                     {"\"ids\":[1],\"stop\":[\"a\",1]", "stop is 1"}})
        try {
            read_texts(std::string("{\"id\":1,") + more + "}");
            ADD_FAILURE() << more;
        } catch (const UserError& error) {
            const std::string said = error.what();
            EXPECT_TRUE(said.starts_with("r.jsonl:1: ")) << said;
            EXPECT_NE(said.find(part), std::string::npos) << said;
        }
}

TEST(RequestFile, Refusals) {
    const auto refused = [](const std::string& line, const std::string& part) {
        try {
            read("{\"id\":\"first\",\"ids\":[1]}\n" + line);
            ADD_FAILURE() << line;
        } catch (const UserError& error) {
            const std::string said = error.what();
            EXPECT_TRUE(said.starts_with("r.jsonl:2:")) << said;
            EXPECT_NE(said.find(part), std::string::npos) << said;
        }
    };
    const auto with = [&](const std::string& more, const std::string& part) {
        refused("{\"id\":\"b\",\"ids\":[1]," + more + "}", part);
    };
    refused("[1]", "no JSON object");
    refused("{\"id\":\"b\",\"ids\":[1]", "r.jsonl:2:20: not valid JSON: ");
    refused("{\"id\":\"b\",\"ids\":[1]} x", "r.jsonl:2:22: not valid JSON: ");
    refused("ids 1 2", "a request is a line of JSON: {\"id\":");
    refused("{\"ids\":[1]}", "no id");
    refused("{\"id\":null,\"ids\":[1]}", "id is null");
    refused("{\"id\":\"b\"}", "ids is missing or empty");
    refused("{\"id\":\"b\",\"ids\":[]}", "ids is missing or empty");
    refused("{\"id\":\"b\",\"ids\":7}", "ids is no list");
    refused("{\"id\":\"b\",\"ids\":[100]}", "100 is no token id; the model has 0 to 99");
    refused("{\"id\":\"b\",\"ids\":[-1]}", "-1 is no token id");
    refused("{\"id\":\"b\",\"ids\":[1.5]}", "1.5 is no token id");
    refused("{\"id\":\"b\",\"ids\":[18446744073709551615]}", "is no token id");
    refused("{\"id\":\"first\",\"ids\":[1]}", "the id \"first\" came before");
    refused("{\"id\":\"b\",\"id\":\"c\",\"ids\":[1]}",
            "r.jsonl:2:11: the key \"id\" is given twice");
    std::string long_prompt = "1";
    for (int i = 0; i < 48; ++i) long_prompt += ",1";
    refused("{\"id\":\"b\",\"ids\":[" + long_prompt + "]}",
            "49 tokens, more than the context of 48");
    const std::string opened(1'000'000, '['), closed(1'000'000, ']');
    with("\"seed\":" + opened + closed, "nested too deeply");
    with("\"seed\":[[1]]", "seed is [[1]]; give a whole number");
    with("\"max_token\":3",
         "there is no key \"max_token\"; there are: id, ids, prompt, max_tokens");
    with("\"max_tokens\":0", "max_tokens is 0; give a whole number from 1 to 2147483647");
    with("\"max_tokens\":2.5", "max_tokens is 2.5");
    with("\"priority\":-2147483649", "priority is -2147483649");
    with("\"max_tokens\":3000000000", "max_tokens is 3000000000");
    with("\"temperature\":-0.1", "temperature must be 0");
    with("\"temperature\":\"hot\"", "temperature is \"hot\"");
    with("\"temperature\":1e400", "r.jsonl:2:35: not valid JSON: the number 1e400 is too large");
    with("\"top_k\":-1", "top_k is -1");
    with("\"top_p\":0", "top_p must be above 0");
    with("\"top_p\":1.01", "top_p must be above 0");
    with("\"seed\":-1", "seed is -1");
    with("\"stop_ids\":[100]", "stop_ids: 100 is no token id");
    with("\"forced_ids\":[-5]", "forced_ids: -5 is no token id");
    with("\"forced_ids\":[]", "forced_ids is empty");
    with("\"at_step\":-1", "at_step is -1");
    with("\"at_step\":9223372036854775807", "at_step is 9223372036854775807");
    with("\"cancel_at\":-1", "cancel_at is -1");
    with("\"priority\":0.5", "priority is 0.5");
    with("\"prompt_logprobs\":1", "prompt_logprobs is 1");
    refused("{\"id\":\"b\",\"prompt\":\"a\"}", "the model has no tokenizer; give ids");
    with("\"stop\":\"a\"", "the model has no tokenizer; give stop_ids");
}

TEST(RequestFile, BlocksTooFewForOneRequest) {
    RequestLimits tight = limits;
    tight.blocks = 2;
    std::istringstream in("{\"id\":1,\"ids\":[1],\"max_tokens\":33}");
    try {
        read_requests(in, "-", tight);
        FAIL();
    } catch (const UserError& error) {
        EXPECT_EQ(std::string(error.what()),
                  "-:1: the request needs 3 blocks of the cache; give --kv-blocks 3 or more");
    }
}

}  // namespace
}  // namespace assay::decode
