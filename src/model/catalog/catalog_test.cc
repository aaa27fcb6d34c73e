#include "model/catalog/catalog.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/net/url.h"
#include "base/random.h"
#include "model/catalog/catalog_reader.h"
#include "model/providers/connect.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Variables = std::map<std::string, std::string, std::less<>>;

Result<Choice> Choose(const Wanted& wanted, const Variables& variables = {},
                      const std::vector<std::string>& files = {}) {
  DOSSIER_ASSIGN_OR_RETURN(Catalog catalog, Catalog::Load(files));
  return catalog.Choose(wanted, [&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(CatalogTest, EveryBuiltInFactHasADateAndASource) {  // MOD-40
  auto catalog = Catalog::Load({});
  ASSERT_TRUE(catalog) << catalog.error().message;
  EXPECT_GE(catalog->entries().size(), 8u);
  for (const Entry& entry : catalog->entries()) {
    EXPECT_FALSE(entry.as_of.empty() || entry.source.empty()) << entry.name;
    EXPECT_TRUE(entry.known);
    EXPECT_LE(entry.capability.max_output, entry.capability.window);
  }
  // Providers that are chosen unasked have a model to begin with.
  for (const char* name : {"openai", "anthropic", "gemini", "openrouter", "local", "scripted"}) {
    EXPECT_FALSE(catalog->FindProvider(name)->default_model.empty()) << name;
  }
  EXPECT_GE(catalog->families().size(), 20u);
  for (const Entry& family : catalog->families()) {
    EXPECT_FALSE(family.as_of.empty() || family.source.empty()) << family.name;
    EXPECT_FALSE(family.price_input || family.price_output) << family.name;
    EXPECT_LE(family.capability.max_output, family.capability.window) << family.name;
  }
}

TEST(CatalogTest, TheFirstKeyThatIsSetDecidesElseTheLocalModel) {  // MOD-2
  struct Case {
    Variables variables;
    const char* provider;
    const char* why;
  };
  const Case cases[] = {
      {{}, "local", "no key of a provider is set"},
      {{{"OPENAI_API_KEY", ""}}, "local", "no key"},
      {{{"OPENAI_API_KEY", "k"}, {"GEMINI_API_KEY", "k"}}, "openai", "OPENAI_API_KEY is set"},
      {{{"ANTHROPIC_API_KEY", "k"}, {"GEMINI_API_KEY", "k"}}, "anthropic", "ANTHROPIC_API_KEY"},
      {{{"GEMINI_API_KEY", "k"}, {"OPENROUTER_API_KEY", "k"}}, "gemini", "GEMINI_API_KEY"},
      {{{"OPENROUTER_API_KEY", "k"}}, "openrouter", "OPENROUTER_API_KEY"},
  };
  for (const Case& c : cases) {
    auto choice = Choose({}, c.variables);
    ASSERT_TRUE(choice) << choice.error().message;
    EXPECT_EQ(choice->provider.name, c.provider);
    EXPECT_THAT(choice->why, HasSubstr(c.why));
    EXPECT_TRUE(choice->entry.known);
  }
  EXPECT_EQ(Choose({})->entry.capability.profile, "small");
}

TEST(CatalogTest, NamesAreFoundWithAndWithoutProvider) {  // MOD-1
  const Variables keys{{"OPENAI_API_KEY", "k"}, {"OPENROUTER_API_KEY", "r"}};
  EXPECT_EQ(Choose({.name = "gpt-5-mini"}, keys)->provider.name, "openai");
  EXPECT_EQ(Choose({.name = "openai/gpt-5"}, keys)->model, "gpt-5");
  EXPECT_EQ(Choose({.name = "openrouter/qwen/qwen3-coder"}, keys)->key, "r");
  EXPECT_EQ(Choose({.name = "local"})->model, "Qwen2.5-Coder-1.5B-Instruct");
  EXPECT_EQ(Choose({.name = "scripted", .script = "x.yaml"})->script, "x.yaml");
  EXPECT_THAT(Choose({.name = "claud-sonnet-5"}, keys),
              FailsWith(ErrorCode::kConfig, "claude-sonnet-5"));
  EXPECT_THAT(Choose({.name = "nobody/gpt"}, keys), FailsWith(ErrorCode::kConfig, "unknown model"));
}

TEST(CatalogTest, TheFormOfAProviderIsNotThatOfItsModelsElsewhere) {  // MOD-1
  const Variables keys{{"MISTRAL_API_KEY", "m"}};
  const auto choice = Choose({.name = "mistral/magistral-medium-latest"}, keys);
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->model, "magistral-medium-latest");
  EXPECT_EQ(choice->entry.form.prompt_mode, "reasoning");
  EXPECT_TRUE(choice->entry.thinking);
  EXPECT_EQ(Choose({.name = "mistral/new-one"}, keys)->entry.form.seed_name, "random_seed");
  EXPECT_EQ(Choose({.name = "mistral/new-one"}, keys)->entry.form.prompt_mode, "");
  const auto elsewhere = Choose({.name = "magistral-small-latest", .base_url = "http://pool/v1"});
  EXPECT_EQ(elsewhere->entry.capability.window, 131072);
  EXPECT_EQ(elsewhere->entry.form.prompt_mode, "") << "another server writes otherwise";
  const auto own =
      Choose({.name = "magistral-small-latest", .base_url = "https://api.mistral.ai/v1"}, keys);
  EXPECT_EQ(own->entry.form.prompt_mode, "reasoning");
}

TEST(CatalogTest, UnknownModelsGetTheConservativeEntryAndOneWarning) {  // MOD-41
  auto choice = Choose({.name = "openai/tiny-1.5B-chat"}, {{"OPENAI_API_KEY", "k"}});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->entry.capability.window, 32768);
  EXPECT_FALSE(choice->entry.capability.assistant_first);
  EXPECT_TRUE(choice->entry.capability.merge_same_role);
  EXPECT_THAT(choice->warnings, ElementsAre());
  EXPECT_THAT(choice->assumed, HasSubstr("window of 32,768 tokens is assumed, 8,192 for an image; "
                                         "models.data in "));
  EXPECT_LE(choice->assumed.size(), 160u);
  const std::pair<const char*, const char*> profiles[] = {
      {"qwen-0.5b", "small"}, {"x-3B", "small"},     {"x-3.1b", "large"},     {"x-70b-v2", "large"},
      {"mystery", "large"},   {"phi-2bit", "large"}, {"moe-30b-a3b", "large"}};
  for (const auto& [name, profile] : profiles) {
    EXPECT_EQ(ConservativeEntry("openai", name).capability.profile, profile) << name;
  }
}

TEST(CatalogTest, FactsOlderThan180DaysAreWarnedOf) {  // ASM-90
  using namespace std::chrono;
  const auto warnings = [](sys_days today) {
    return Choose({.name = "gpt-5-mini", .today = today}, {{"OPENAI_API_KEY", "k"}})->warnings;
  };
  const sys_days as_of = 2026y / November / 21;
  EXPECT_TRUE(warnings(as_of + days(180)).empty());
  EXPECT_THAT(warnings(as_of + days(181)), ElementsAre(HasSubstr("is of 2026-11-21")));
}

TEST(CatalogTest, AKeyGoesOnlyToTheHostItWasGivenFor) {  // MOD-3
  const Variables keys{{"OPENAI_API_KEY", "secret"}, {"POOL_KEY", "pool"}};
  auto elsewhere = Choose({.name = "qwen", .base_url = "http://pool:8000/v1"}, keys);
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->key, "");
  EXPECT_EQ(elsewhere->model, "qwen");
  EXPECT_EQ(elsewhere->provider.base_url, "http://pool:8000/v1");
  auto own = Choose({.name = "gpt-9", .base_url = "https://API.openai.com:443/v1"}, keys);
  EXPECT_EQ(own->key, "secret");
  auto named =
      Choose({.name = "qwen", .base_url = "http://pool:8000/v1", .key_env = "POOL_KEY"}, keys);
  EXPECT_EQ(named->key, "pool");
  EXPECT_EQ(named->key_source, "POOL_KEY");
  Variables moved = keys;
  moved["OPENAI_BASE_URL"] = "http://pool:8000/v1";
  EXPECT_EQ(Choose({.name = "gpt-5"}, moved)->provider.base_url, "http://pool:8000/v1");
  EXPECT_EQ(Choose({.name = "gpt-5"}, moved)->key, "secret");
  EXPECT_TRUE(Choose({.name = "gpt-5"}, {{"OPENAI_BASE_URL", "http://127.0.0.1:80/v1"}}))
      << "loopback needs no key";
  EXPECT_EQ(Choose({.name = "gpt-5"}, {{"OPENAI_BASE_URL", "http://pool/v1"}})->key, "")
      << "who moves a provider knows whether a key is wanted there";
  EXPECT_THAT(Choose({.name = "gpt-5"}), FailsWith(ErrorCode::kAuth, "no key"));
}

TEST(CatalogTest, AnAddressIsTakenAsPeopleWriteIt) {  // FLT-45
  const std::pair<const char*, const char*> cases[] = {
      {"localhost:11434", "http://localhost:11434/v1"},
      {"127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"},
      {"pool:8000", "https://pool:8000/v1"},
      {"http://pool:8000", "http://pool:8000/v1"},
      {"http://pool:8000/", "http://pool:8000/"},
      {"https://pool/openai/v1", "https://pool/openai/v1"},
      {"ftp://x", "ftp://x"}};
  for (const auto& [written, meant] : cases) EXPECT_EQ(WholeAddress(written), meant);
  EXPECT_EQ(Choose({.name = "m", .base_url = "localhost:11434"})->provider.base_url,
            "http://localhost:11434/v1");
  EXPECT_EQ(Choose({.name = "gpt-5"}, {{"OPENAI_BASE_URL", "localhost:1"}})->provider.base_url,
            "http://localhost:1/v1");
}

TEST(CatalogTest, AnAddressWithoutAModelAsksTheServer) {  // FLT-45
  auto moved = Choose({}, {{"OPENAI_BASE_URL", "http://pool:1/v1"}});
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->provider.name, "openai");
  EXPECT_EQ(moved->why, "OPENAI_BASE_URL is set");
  EXPECT_EQ(moved->ask_server, Choice::AskServer::kYes);
  EXPECT_EQ(Choose({.name = "gpt-5"}, {{"OPENAI_BASE_URL", "http://pool:1/v1"}})->ask_server,
            Choice::AskServer::kNo);
  EXPECT_EQ(Choose({.base_url = "pool:1"})->ask_server, Choice::AskServer::kYes);
  // A key means the provider's usual model, also where it is only looked for.
  EXPECT_EQ(Choose({.keys = Wanted::Keys::kNone},
                   {{"OPENAI_BASE_URL", "http://pool:1/v1"}, {"OPENAI_API_KEY", "k"}})
                ->ask_server,
            Choice::AskServer::kNo);
  EXPECT_EQ(Choose({.name = "ollama"})->ask_server, Choice::AskServer::kYes);
  EXPECT_THAT(Choose({.name = "mistral"}, {{"MISTRAL_API_KEY", "k"}}),
              FailsWith(ErrorCode::kConfig, "Name it: mistral/NAME"));
}

TEST(CatalogTest, AStoredKeyChoosesTheProvider) {  // FLT-45
  auto folder = TempFolder::Make();
  const std::string keys = folder->path() + "/dossier/keys";
  ASSERT_TRUE(MakeFolders(keys));
  ASSERT_TRUE(WriteFileAtomic(keys + "/anthropic", "from-file\n", 0600));
  Variables variables{{"XDG_CONFIG_HOME", folder->path()}};
  EXPECT_EQ(Choose({}, variables)->provider.name, "anthropic");
  EXPECT_EQ(Choose({}, variables)->why, "the key file " + keys + "/anthropic is there");
  variables["GEMINI_API_KEY"] = "k";
  EXPECT_EQ(Choose({}, variables)->provider.name, "gemini") << "a variable counts more";
}

TEST(CatalogTest, AModelWithoutAnEntryIsTakenByItsFamily) {  // FLT-44
  const Variables keys{{"OPENAI_API_KEY", "k"},
                       {"ANTHROPIC_API_KEY", "k"},
                       {"GEMINI_API_KEY", "k"},
                       {"OPENROUTER_API_KEY", "k"},
                       {"XAI_API_KEY", "k"},
                       {"DEEPSEEK_API_KEY", "k"},
                       {"MISTRAL_API_KEY", "k"}};
  struct Case {
    const char* name;
    const char* provider;
    const char* family;  // "": of its own
    std::int64_t window;
  };
  const Case cases[] = {{"gpt-4o", "openai", "", 128000},
                        {"gpt-4", "openai", "", 8192},
                        {"gpt-3.5-turbo-0125", "openai", "gpt-3.5*", 16385},
                        {"gpt-4o-2024-08-06", "openai", "gpt-4o*", 128000},
                        {"gpt-4-turbo-preview", "openai", "gpt-4-turbo*", 128000},
                        {"gpt-4.1-nano", "openai", "gpt-4.1*", 1047576},
                        {"o3-mini", "openai", "o3*", 200000},
                        {"gpt-7-maxi", "openai", "gpt-*", 128000},
                        {"claude-3-opus-20240229", "anthropic", "claude-3*", 200000},
                        {"claude-9-sonnet", "anthropic", "claude-*", 200000},
                        {"gemini-1.5-pro", "gemini", "gemini-*", 1048576},
                        {"ollama/llama3", "ollama", "*", 4096},
                        {"ollama_chat/llama3", "ollama", "*", 4096},
                        {"vertex_ai/gemini-1.5-pro", "gemini", "gemini-*", 1048576},
                        {"grok-4", "xai", "grok-*", 32768},
                        {"deepseek-reasoner", "deepseek", "deepseek-*", 65536},
                        {"ministral-8b", "mistral", "ministral-*", 32768},
                        {"open-mixtral-8x7b", "mistral", "open-mi*", 32768},
                        {"codex-mini-latest", "openai", "codex-*", 128000},
                        {"openrouter/openai/gpt-4o", "openrouter", "gpt-4o", 128000}};
  for (const Case& c : cases) {
    const auto choice = Choose({.name = c.name}, keys);
    ASSERT_TRUE(choice) << choice.error().message;
    EXPECT_EQ(choice->provider.name, c.provider) << c.name;
    EXPECT_EQ(choice->entry.family, c.family) << c.name;
    EXPECT_EQ(choice->entry.capability.window, c.window) << c.name;
    EXPECT_EQ(choice->assumed.empty(), c.family[0] == 0) << choice->assumed;
    EXPECT_LE(choice->assumed.size(), 120u);
  }
  EXPECT_EQ(Choose({.name = "ollama/llama3.2:1b"})->entry.capability.profile, "small");
  const auto proxied = Choose({.name = "openai/gpt-4o", .base_url = "http://pool/v1"});
  EXPECT_EQ(proxied->model, "openai/gpt-4o");
  EXPECT_EQ(proxied->entry.capability.window, 128000);
  EXPECT_GT(proxied->entry.capability.image_tokens, 0);
  EXPECT_EQ(Choose({.name = "gpt-4o", .base_url = "http://pool/v1"})->entry.capability.window,
            128000)
      << "facts of a model go with it";
}

TEST(CatalogTest, OfAModelThatNobodyKnowsItIsAssumedThatItSees) {  // FLT-44, FLT-48
  const Variables key{{"OPENAI_API_KEY", "k"}, {"OPENROUTER_API_KEY", "k"}};
  const std::pair<const char*, std::int64_t> assumed[] = {
      {"ollama/llava", 1024}, {"openai/zzz", 8192}, {"openrouter/some/seer", 8192}};
  for (const auto& [name, tokens] : assumed) {
    const Entry entry = Choose({.name = name}, key)->entry;
    EXPECT_TRUE(entry.image_assumed) << name;
    EXPECT_EQ(entry.capability.image_tokens, tokens) << name;
  }
  for (const char* name : {"local/other-weights", "openai/gpt-4-0613", "openrouter/openai/gpt-4"}) {
    const Entry entry = Choose({.name = name}, key)->entry;
    EXPECT_FALSE(entry.image_assumed) << name;
    EXPECT_FALSE(entry.capability.image_tokens) << name;
  }
  EXPECT_FALSE(Choose({.name = "openrouter/openai/gpt-4o"}, key)->entry.image_assumed);
}

TEST(CatalogTest, AFileMayNameFamilies) {  // FLT-44
  auto folder = TempFolder::Make();
  const std::string path = folder->path() + "/mine.yaml";
  ASSERT_TRUE(WriteFileAtomic(path, R"(
schema: dossier.models/1
models:
  - {name: "qwen*", provider: ollama, window: 20000, as_of: 2026-01-01, source: me}
  - {name: qwen3, provider: ollama, as_of: 2026-01-01, source: me}
)"));
  EXPECT_EQ(Choose({.name = "ollama/qwen2:7b"}, {}, {path})->entry.capability.window, 20000);
  const auto bare = Choose({.name = "qwen2"}, {}, {path});
  ASSERT_TRUE(bare) << bare.error().message;
  EXPECT_EQ(bare->provider.name, "ollama");
  const auto own = Choose({.name = "ollama/qwen3"}, {}, {path});
  EXPECT_EQ(own->entry.capability.window, 20000) << "an entry says what differs from its family";
  EXPECT_EQ(own->assumed, "");
  EXPECT_EQ(Choose({.name = "ollama/llama3"}, {}, {path})->entry.capability.window, 4096);
}

TEST(CatalogTest, AVariableMovesAProviderWithItsDialectAndKey) {  // MOD-3
  auto moved = Choose({.name = "claude-sonnet-5"}, {{"ANTHROPIC_BASE_URL", "http://127.0.0.1:9"}});
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->provider.base_url, "http://127.0.0.1:9");
  EXPECT_EQ(moved->provider.dialect, "anthropic");
  EXPECT_THAT(moved->why, HasSubstr("ANTHROPIC_BASE_URL"));
}

TEST(CatalogTest, MissingAndBrokenKeysAreExplainedWithoutTheirValue) {  // section 6
  EXPECT_THAT(Choose({.name = "gpt-5"}, {{"HOME", "/nowhere"}}),
              FailsWith(ErrorCode::kAuth,
                        "no key for openai: OPENAI_API_KEY is not set and there is no file "
                        "/nowhere/.config/dossier/keys/openai"));
  EXPECT_THAT(Choose({.name = "gpt-5", .key_env = "NOT_SET"}),
              FailsWith(ErrorCode::kAuth, "NOT_SET"));
  auto broken = Choose({.name = "gpt-5"}, {{"OPENAI_API_KEY", "abc\r\nHost: evil"}});
  EXPECT_THAT(broken, FailsWith(ErrorCode::kAuth, "line break"));
  EXPECT_THAT(broken.error().message, Not(HasSubstr("evil")));
}

TEST(CatalogTest, AKeyFileMustBePrivate) {  // section 5
  auto folder = TempFolder::Make();
  const std::string keys = folder->path() + "/dossier/keys";
  ASSERT_TRUE(MakeFolders(keys));
  ASSERT_TRUE(WriteFileAtomic(keys + "/openai", "from-file\n", 0600));
  const Variables variables{{"XDG_CONFIG_HOME", folder->path()}};
  auto choice = Choose({.name = "gpt-5"}, variables);
  EXPECT_EQ(choice->key, "from-file");
  EXPECT_EQ(choice->key_source, keys + "/openai");
  chmod((keys + "/openai").c_str(), 0644);
  EXPECT_THAT(Choose({.name = "gpt-5"}, variables), FailsWith(ErrorCode::kAuth, "chmod 600"));
}

TEST(CatalogTest, FilesOfAUserOverrideAndAdd) {  // MOD-40
  auto folder = TempFolder::Make();
  const std::string path = folder->path() + "/mine.yaml";
  ASSERT_TRUE(WriteFileAtomic(path, R"(
schema: dossier.models/1
providers:
  pool: {base_url: "http://pool/v1", default_model: big, as_of: 2026-01-01, source: me}
models:
  - {name: gpt-5, provider: openai, window: 1000, max_output: 500, as_of: 2026-01-01, source: me}
  - {name: big, provider: pool, profile: small, as_of: 2026-01-01, source: me}
)"));
  auto gpt = Choose({.name = "gpt-5"}, {{"OPENAI_API_KEY", "k"}}, {path});
  ASSERT_TRUE(gpt) << gpt.error().message;
  EXPECT_EQ(gpt->entry.capability.window, 1000);
  EXPECT_EQ(gpt->entry.price_input, 1250) << "what is not named stays";
  EXPECT_EQ(Choose({.name = "pool"}, {}, {path})->model, "big");
}

TEST(CatalogTest, MistakesInAFileHaveAPlace) {  // MOD-40
  struct Case {
    const char* models;
    const char* message;
  };
  const Case cases[] = {
      {"- {name: a, provider: b, source: c}", "f.yaml:3:3: a has no as_of"},
      {"- {name: a, provider: b, as_of: 2026-01-01}", "a has no source"},
      {"- {name: a, provider: b, as_of: soon, source: c}", "as_of is a date"},
      {"- {name: a, provider: b, windw: 3}", "unknown key \"windw\"; did you mean \"window\"?"},
      {"- {name: a, provider: b, as_of: 2026-01-01, source: c, window: 0}", "above 0"},
      {"- {name: a, provider: b, as_of: 2026-01-01, source: c, prices: {input: 0.0001}}",
       "steps of 0.001"},
      {"- {name: a, provider: b, as_of: 2026-01-01, source: c, capabilities: {tools: 1}}",
       "true or false"},
      {"- {name: a, provider: b, as_of: 2026-01-01, source: c, profile: huge}", "small, large"},
      {"- {name: a, provider: b, as_of: 2026-01-01, source: c, image: {source: d}}",
       "image says tokens"},
      {"- {name: a, provider: b, as_of: 2026-01-01, source: c, capabilities: {prompt_mode: x}}",
       "reasoning"},
      {"- {name: a}", "needs name and provider"},
  };
  for (const Case& c : cases) {
    CatalogData data;
    const std::string text = std::string("schema: dossier.models/1\nmodels:\n") + c.models;
    EXPECT_THAT(ReadCatalogFile(text, "f.yaml", &data), FailsWith(ErrorCode::kConfig, c.message))
        << c.models;
  }
}

TEST(CatalogTest, DamagedFilesNeverCrash) {
  Random random(5);
  const std::string base =
      "schema: dossier.models/1\nmodels:\n- {name: a, provider: b, as_of: 2026-01-01, source: c, "
      "prices: {input: 1}, capabilities: {sampling: [seed]}}\n";
  for (int round = 0; round < 2000; ++round) {
    std::string text = base;
    for (int i = 0; i < 3; ++i) {
      text[random.Below(text.size())] = "{}[]:,- \n#&*'x"[random.Below(14)];
    }
    CatalogData data;
    (void)ReadCatalogFile(text, "fuzz", &data).has_value();
  }
}

TEST(CatalogTest, CacheAndTokenFactsReachTheCapability) {  // MOD-40, ASM-90
  auto choice = Choose({.name = "claude-sonnet-5"}, {{"ANTHROPIC_API_KEY", "k"}});
  ASSERT_TRUE(choice) << choice.error().message;
  const assembly::CacheRules& cache = choice->entry.capability.cache;
  EXPECT_EQ(cache.mode, assembly::CacheRules::Mode::kExplicit);
  EXPECT_EQ(cache.min_prefix, 1024);
  EXPECT_EQ(cache.breakpoints, 4);
  EXPECT_EQ(cache.look_back, 20);
  EXPECT_EQ(cache.ttl, (std::vector<std::string>{"5m", "1h"}));
  EXPECT_EQ(cache.write, (std::vector<double>{1.25, 2}));
  EXPECT_EQ(cache.read, 0.1);
  EXPECT_EQ(choice->entry.tokenizer, "o200k_base");
  EXPECT_EQ(choice->entry.ratio, 1.3);
  EXPECT_GE(choice->entry.margin, 0.15);
  const Json& facts = choice->entry.capability.entry;
  EXPECT_EQ(FindString(facts, "as_of"), choice->entry.as_of);
  EXPECT_EQ(FindString(*Find(facts, "tokens"), "status"), "unverified");
}

// ASM-7, MOD-40
TEST(CatalogTest, AModelThatSeesSaysWhatAnImageCostsAndWhereThatIsFrom) {
  auto catalog = Catalog::Load({});
  ASSERT_TRUE(catalog) << catalog.error().message;
  int seeing = 0;
  for (const Entry& entry : catalog->entries()) {
    const bool large_api =
        entry.provider == "openai" || entry.provider == "anthropic" || entry.provider == "gemini";
    if (!entry.vision || !large_api) continue;
    ++seeing;
    EXPECT_GT(entry.capability.image_tokens.value_or(0), 0) << entry.name;
    const Json* fact = Find(entry.capability.entry, "image");
    ASSERT_NE(fact, nullptr) << entry.name;
    for (const char* key : {"as_of", "source", "status"}) {
      EXPECT_TRUE(FindString(*fact, key)) << entry.name << " has no " << key;
    }
  }
  EXPECT_GE(seeing, 15);
  const auto old = Choose({.name = "claude-haiku-4-5"}, {{"ANTHROPIC_API_KEY", "k"}});
  EXPECT_EQ(old->entry.capability.image_tokens, 1600);
  // Older ones and families, too: FLT-47.
  for (const char* name : {"openai/gpt-4.1", "openai/gpt-4.1-mini", "openai/gpt-4o-2024-11-20",
                           "openai/gpt-6-luna", "anthropic/claude-9", "gemini/gemini-3-next"}) {
    const auto one =
        Choose({.name = name},
               {{"OPENAI_API_KEY", "k"}, {"ANTHROPIC_API_KEY", "k"}, {"GEMINI_API_KEY", "k"}});
    ASSERT_TRUE(one) << one.error().message;
    EXPECT_GT(one->entry.capability.image_tokens.value_or(0), 1000) << name;
  }
}

TEST(CatalogTest, CostIsTheSumOfTheTable) {  // MOD-24, MOD-A10
  Entry entry;
  entry.price_input = 250;
  entry.price_cached = 25;
  entry.price_output = 2000;
  // 600 x 250 + 400 x 25 + 50 x 2000
  EXPECT_EQ(CostOf({.input = 1000, .output = 50, .cached = 400}, entry), 260'000);
  entry.price_cached.reset();
  EXPECT_EQ(CostOf({.input = 1000, .output = 50, .cached = 400}, entry), 350'000)
      << "a price that is missing makes nothing free: limits of money count on it";
  EXPECT_EQ(CostOf({.input = 1000, .output = 50}, entry), 350'000) << "nothing was cached";
  EXPECT_EQ(CostOf({.input = INT64_MAX, .output = 1}, entry), std::nullopt);

  Entry claude;  // writing costs a factor for each lifetime, reading too where no price is named
  claude.price_input = 750;
  claude.price_output = 0;
  claude.capability.cache.write = {1.25, 2};
  claude.capability.cache.read = 0.1;
  // 100 x 750 + 200 x 75 + 7 x 937.5 + 3 x 1500, rounded once for each of them
  EXPECT_EQ(CostOf({.input = 310, .cached = 200, .cache_write = 10, .cache_write_long = 3}, claude),
            75'000 + 15'000 + 6'563 + 4'500);
  claude.capability.cache.write = {1.25};
  // 300 x 750 + 7 x 937.5 + 3 x 1500: of the longer lifetime the most that anybody asks
  EXPECT_EQ(CostOf({.input = 310, .cache_write = 10, .cache_write_long = 3}, claude),
            225'000 + 6'563 + 4'500);
  claude.price_input.reset();
  EXPECT_EQ(CostOf({.input = 310, .cached = 10}, claude), std::nullopt);
}

TEST(CatalogTest, EveryModelWithAPriceHasOneForCachedTokens) {  // MOD-24
  const auto catalog = Catalog::Load({});
  ASSERT_TRUE(catalog) << catalog.error().message;
  for (const Entry& entry : catalog->entries()) {
    if (!entry.price_input) continue;
    const auto cost = CostOf({.input = 1000, .cached = 400, .cache_write = 100}, entry);
    ASSERT_TRUE(cost) << entry.name;
    EXPECT_GE(*cost, 500 * *entry.price_input) << entry.name;
  }
  const auto from = [&](const char* provider, const char* name) {
    const auto price = CachedPriceOf(catalog->EntryOf(provider, name));
    return price ? std::optional(price->from) : std::nullopt;
  };
  EXPECT_EQ(from("openai", "gpt-5-mini"), CachedPrice::From::kTable);
  EXPECT_EQ(from("anthropic", "claude-opus-5"), CachedPrice::From::kCacheRules);
  EXPECT_EQ(from("openai", "gpt-4o"), CachedPrice::From::kInput);
  EXPECT_EQ(from("openai", "gpt-99"), std::nullopt);
}

TEST(CatalogTest, EveryProviderOfTheDataHasAClient) {  // MOD-10 to 12
  const auto catalog = Catalog::Load({});
  ASSERT_TRUE(catalog) << catalog.error().message;
  std::size_t tried = 0;
  for (const Provider& provider : catalog->providers()) {
    if (provider.base_url.empty()) continue;  // local and scripted
    Variables keys;
    for (const std::string& variable : provider.key_variables) keys[variable] = "k";
    auto choice = Choose({.name = provider.name + "/some-model"}, keys);
    ASSERT_TRUE(choice) << choice.error().message;
    const auto connection = Connect(*choice, {}, {});
    ASSERT_TRUE(connection) << connection.error().message;
    EXPECT_THAT(connection->description, HasSubstr(provider.base_url));
    ++tried;
  }
  EXPECT_GE(tried, 10u);
  EXPECT_THAT(Connect(*Choose({.name = "scripted"}), {}, {}),
              FailsWith(ErrorCode::kUsage, "--script"));
}

TEST(UrlTest, PartsAndRefusals) {
  auto url = ParseUrl("HTTPS://Api.Example.com/v1");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->origin(), "https://api.example.com:443");
  EXPECT_FALSE(url->is_loopback());
  EXPECT_TRUE(ParseUrl("http://[::1]:8080/v1")->is_loopback());
  EXPECT_TRUE(ParseUrl("http://127.9.0.1")->is_loopback());
  EXPECT_FALSE(ParseUrl("http://127.evil.example")->is_loopback());
  for (const char* bad : {"", "ftp://x", "http://", "http://u:p@h", "http://h:99999", "http://h:x",
                          "http://[::1", "http://a b", "http://h\r\nX: y"}) {
    EXPECT_THAT(ParseUrl(bad), FailsWith(ErrorCode::kConfig, "address")) << bad;
  }
}

}  // namespace
}  // namespace dossier::model
