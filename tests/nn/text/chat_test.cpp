// Prompts against jinja2's rendering of the templates.
#include <gtest/gtest.h>

#include "impls/nn/text/chat.hpp"
#include "tests/nn/text/golden_files.hpp"

namespace assay::nn {
namespace {

using namespace testing;

TEST(Chat, PromptsAsTheTemplatesWriteThem) {
    int prompts = 0;
    for (const auto& golden : golden_json("chat_prompts.json")) {
        const std::string source = golden["template"];
        SCOPED_TRACE(source);
        const auto system = chatml_default_system(source);
        ASSERT_EQ(system.has_value(), golden["is_chatml"]);
        for (const auto& conversation : golden["prompts"]) {
            std::vector<ChatMessage> messages;
            for (const auto& message : conversation["messages"])
                messages.push_back({message[0], message[1]});
            EXPECT_EQ(chat_prompt(messages, *system), conversation["prompt"]);
            ++prompts;
        }
    }
    EXPECT_GE(prompts, 20);
}

TEST(Chat, ATemplateThatDoesAnythingElseIsAnother) {
    const std::string source = golden_json("chat_prompts.json").front()["template"];
    ASSERT_TRUE(chatml_default_system(source));
    for (const char* part : {"loop.first", "!=", "message['role']", "<|im_end|>", "assistant",
                             "system", "add_generation_prompt", "endfor", "{{", "%}"}) {
        std::string changed = source;
        changed.replace(changed.rfind(part), std::string(part).size(), "x");
        EXPECT_EQ(chatml_default_system(changed), std::nullopt) << changed;
    }
    EXPECT_EQ(chatml_default_system(""), std::nullopt);
    EXPECT_EQ(chatml_default_system(source + source), std::nullopt);
    for (std::size_t size = 0; size < source.size(); ++size)
        EXPECT_EQ(chatml_default_system(source.substr(0, size)), std::nullopt) << size;
}

TEST(Chat, TokensOfATemplate) {
    using enum TemplateToken::Kind;
    using Tokens = std::vector<TemplateToken>;
    EXPECT_EQ(template_tokens("a {{- b.c }}\n{% d %}\ne"), (Tokens{{text, "a"},
                                                                   {mark, "{{"},
                                                                   {word, "b"},
                                                                   {mark, "["},
                                                                   {string, "c"},
                                                                   {mark, "]"},
                                                                   {mark, "}}"},
                                                                   {text, "\n"},
                                                                   {mark, "{%"},
                                                                   {word, "d"},
                                                                   {mark, "%}"},
                                                                   {text, "e"}}));
    EXPECT_EQ(template_tokens("{{ 'a\\n' + \"'b\" != x -}} \n c"), (Tokens{{mark, "{{"},
                                                                           {string, "a\n'b"},
                                                                           {mark, "!="},
                                                                           {word, "x"},
                                                                           {mark, "}}"},
                                                                           {text, "c"}}));
    for (const char* open : {"{{", "{% a", "{{ 'a", "{{ 'a\\", "{{ a %}", "{{ a }"})
        EXPECT_EQ(template_tokens(open), std::nullopt) << open;
}

}  // namespace
}  // namespace assay::nn
