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
  for (const Provider& provider : catalog->providers()) {
    EXPECT_EQ(provider.default_model.empty(), provider.name == "command") << provider.name;
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
  EXPECT_THAT(Choose({.name = "gpt-5-mimi"}, keys), FailsWith(ErrorCode::kConfig, "gpt-5-mini"));
  EXPECT_THAT(Choose({.name = "nobody/gpt"}, keys), FailsWith(ErrorCode::kConfig, "unknown model"));
}

TEST(CatalogTest, UnknownModelsGetTheConservativeEntryAndOneWarning) {  // MOD-41
  auto choice = Choose({.name = "openai/tiny-1.5B-chat"}, {{"OPENAI_API_KEY", "k"}});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->entry.capability.window, 32768);
  EXPECT_FALSE(choice->entry.capability.assistant_first);
  EXPECT_TRUE(choice->entry.capability.merge_same_role);
  ASSERT_EQ(choice->warnings.size(), 1u);
  EXPECT_THAT(choice->warnings[0], HasSubstr("data/models.yaml"));
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
  EXPECT_THAT(Choose({.name = "gpt-5"}, {{"OPENAI_BASE_URL", "http://pool/v1"}}),
              FailsWith(ErrorCode::kAuth, "no key"));
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
      {"- {name: a}", "needs name and provider"},
  };
  for (const Case& c : cases) {
    std::vector<Entry> entries;
    std::vector<Provider> providers;
    const std::string text = std::string("schema: dossier.models/1\nmodels:\n") + c.models;
    EXPECT_THAT(ReadCatalogFile(text, "f.yaml", &entries, &providers),
                FailsWith(ErrorCode::kConfig, c.message))
        << c.models;
  }
}

TEST(CatalogTest, DamagedFilesNeverCrash) {
  Random random(5);
  const std::string base =
      "schema: dossier.models/1\nmodels:\n- {name: a, provider: b, as_of: 2026-01-01, source: c, "
      "prices: {input: 1}, capabilities: {sampling: [a]}}\n";
  for (int round = 0; round < 2000; ++round) {
    std::string text = base;
    for (int i = 0; i < 3; ++i) {
      text[random.Below(text.size())] = "{}[]:,- \n#&*'x"[random.Below(14)];
    }
    std::vector<Entry> entries;
    std::vector<Provider> providers;
    (void)ReadCatalogFile(text, "fuzz", &entries, &providers).has_value();
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
}

TEST(CatalogTest, CostIsTheSumOfTheTable) {  // MOD-24, MOD-A10
  Entry entry;
  entry.price_input = 250;
  entry.price_cached = 25;
  entry.price_output = 2000;
  // 600 x 250 + 400 x 25 + 50 x 2000
  EXPECT_EQ(CostOf({.input = 1000, .output = 50, .cached = 400}, entry), 260'000);
  entry.price_cached.reset();
  EXPECT_EQ(CostOf({.input = 1000, .output = 50, .cached = 400}, entry), std::nullopt);
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
  EXPECT_EQ(CostOf({.input = 310, .cache_write = 10, .cache_write_long = 3}, claude), std::nullopt);
}

TEST(CatalogTest, EveryProviderOfTheDataHasAClient) {  // MOD-10 to 12
  const Variables keys{{"OPENAI_API_KEY", "k"},
                       {"ANTHROPIC_API_KEY", "k"},
                       {"GEMINI_API_KEY", "k"},
                       {"OPENROUTER_API_KEY", "k"}};
  for (const char* name : {"openai", "anthropic", "gemini", "openrouter"}) {
    auto choice = Choose({.name = name}, keys);
    ASSERT_TRUE(choice) << choice.error().message;
    const auto connection = Connect(*choice, {}, {});
    ASSERT_TRUE(connection) << connection.error().message;
    EXPECT_THAT(connection->description, HasSubstr(choice->provider.base_url));
  }
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
