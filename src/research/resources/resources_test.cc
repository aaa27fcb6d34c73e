#include "research/resources/resources.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/files/file.h"
#include "base/process/process.h"
#include "base/random.h"
#include "base/text/utf8.h"
#include "research/resources/resource_content.h"
#include "research/resources/resource_policy.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// RSP-T7
class ResourcesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Write("mesh/README.md", "# Mesh\nRead me.\n");
    Write("mesh/src/main.c", "int main(void) { return 0; }\n");
    Write("mesh/a/b/c/d/e.txt", "deep\n");
    Write("mesh/data.bin", std::string("\0\1\2", 3));
  }

  void Write(const std::string& path, std::string_view text) {
    const std::string whole = temp_.path() + "/" + path;
    ASSERT_TRUE(MakeFolders(whole.substr(0, whole.rfind('/'))));
    ASSERT_TRUE(WriteFileAtomic(whole, text));
  }

  Result<ResourceFile> Read(std::string_view text) const {
    return ReadResourceFile(text, {.file = "res.yml", .folder = temp_.path()});
  }

  // Returns the index of a file with the resource `mesh` and one item.
  ResourceIndex IndexOf(std::string_view item) const { return Prepared(item).index; }
  PreparedResources Prepared(std::string_view item, const std::string& run_folder = "") const {
    const auto file = Read(fmt::format(
        "local: [{{name: mesh, host_path: mesh, mount_path: mesh}}]\nitems: [{{{}}}]\n", item));
    EXPECT_TRUE(file) << file.error().message;
    if (!file) return {};
    auto ready = PrepareResources(*file, {.run_folder = run_folder}, {});
    EXPECT_TRUE(ready) << ready.error().message;
    return ready ? *std::move(ready) : PreparedResources{};
  }

  TempFolder temp_ = *TempFolder::Make("resources");
};

constexpr std::string_view kTemplate =
    "name: t, class: template, source: local, resource: mesh, path: .";

TEST_F(ResourcesTest, AllFaultsAreToldTogether) {  // RSP-16
  const auto file = Read(
      "local:\n"
      "  - {name: mesh, host_path: mesh, mount_path: /workspace/mesh}\n"
      "  - {name: mesh, host_path: gone, mount_path: /etc}\n"
      "github:\n"
      "  - {name: g, repo: --upload-pack=x, dest: ../g, as: toy}\n"
      "huggingface:\n"
      "  - {name: h, repo_id: a/b, dest: /workspace/mesh}\n"
      "items:\n"
      "  - {name: a, class: document, source: local, resource: mesh, path: README.md}\n"
      "  - {name: a, class: document, source: local, resource: mesh, path: README.md}\n"
      "  - {name: ../b, class: poem, source: local, resource: mesh, path: ../x, max_chars: -2}\n"
      "  - {name: c, class: setup, source: github, resource: mesh, path: /etc, pth: 1}\n"
      "  - {name: d, class: setup, source: local, resource: mesh, path: ., include_files: [no]}\n"
      "extra: 1\n");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kDamaged);
  for (const std::string_view part :
       {"local[1].name: \"mesh\" is there twice",
        "local[1].host_path:", "local[1].mount_path: \"/etc\" is not under /workspace",
        "github[0].repo: \"--upload-pack=x\" is no repository", "github[0].dest:",
        "github[0].as: \"toy\" must be one of data, library", "huggingface[0].type: is missing",
        "huggingface[0].dest: \"/workspace/mesh\" is taken by mesh",
        "items[1].name: document \"a\" is there twice", "items[2].name: \"../b\"",
        "items[2].class: \"poem\"", "items[2].path: \"../x\" leaves the workspace",
        "items[2].max_chars:", "items[3]: unknown key pth",
        "items[3].resource: there is no github resource \"mesh\"",
        "items[3].path: \"/etc\" leaves the workspace",
        "items[4].include_files: \"no\" is not there", "unknown key extra"}) {
    EXPECT_THAT(file.error().message, HasSubstr(std::string(part)));
  }
}

TEST_F(ResourcesTest, AMountIsAPlaceOfItsOwnBelowTheWorkspace) {  // RSP-16
  for (const std::string_view mount :
       {".", "/workspace", "/workspace/.", "/workspace//", "a/..", "/workspace/a:b", "a,/etc"}) {
    EXPECT_THAT(
        Read(fmt::format("local: [{{name: mesh, host_path: mesh, mount_path: \"{}\"}}]", mount)),
        FailsWith(ErrorCode::kDamaged, "local[0].mount_path:"))
        << mount;
  }
}

TEST_F(ResourcesTest, AnEmptyFileIsFineAndAMissingRefIsWarnedOf) {
  ASSERT_TRUE(Read(""));
  const auto file = Read("github: [{name: g, repo: a/b, dest: g}]\n");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->origins[0].mount, "/workspace/g");
  ASSERT_EQ(file->warnings.size(), 1u);
  EXPECT_THAT(file->warnings[0], HasSubstr("a/b has no ref"));
}

TEST_F(ResourcesTest, AnyTextIsReadOrRefused) {
  Random random(3);
  constexpr std::string_view kPieces[] = {"local:",  "items: ", "[",      "]", "{",    "}",
                                          "name: a", ", ",      "path: ", ".", "\n- ", "class: x"};
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (std::uint64_t piece = random.Below(14); piece > 0; --piece) {
      text += kPieces[random.Below(std::size(kPieces))];
    }
    static_cast<void>(Read(text));
  }
}

TEST_F(ResourcesTest, ClassesAndPhasesDecideWhatIsShownAndFlagsWin) {  // RSP-17
  const struct {
    ResourceClass kind;
    std::string_view tree, content;  // phases as digits
    ItemLimits limits;
  } kRows[] = {
      {ResourceClass::kTemplate, "012", "012", {12, 3500, 12'000}},
      {ResourceClass::kLibrary, "", "", {6, 2000, 4000}},
      {ResourceClass::kDataset, "", "", {0, 0, 0}},
      {ResourceClass::kModel, "", "", {0, 0, 0}},
      {ResourceClass::kSetup, "01", "01", {8, 3000, 8000}},
      {ResourceClass::kDocument, "", "01234", {4, 3000, 8000}},
  };
  for (const auto& row : kRows) {
    ResourceItem item{.kind = row.kind};
    std::string tree, content;
    for (int phase = 0; phase < kPhases; ++phase) {
      if (ShowsTree(item, static_cast<Phase>(phase))) tree += std::to_string(phase);
      if (ShowsContent(item, static_cast<Phase>(phase))) content += std::to_string(phase);
    }
    EXPECT_EQ(tree, row.tree) << ResourceClassName(row.kind);
    EXPECT_EQ(content, row.content) << ResourceClassName(row.kind);
    EXPECT_EQ(LimitsOf(item).files, row.limits.files);
    EXPECT_EQ(LimitsOf(item).chars, row.limits.chars);
    EXPECT_EQ(LimitsOf(item).total_chars, row.limits.total_chars);
    item.include_tree = item.include_content = true;
    EXPECT_TRUE(ShowsTree(item, Phase::kRun) && ShowsContent(item, Phase::kRun));
    item.include_tree = item.include_content = false;
    EXPECT_FALSE(ShowsTree(item, Phase::kPlan) || ShowsContent(item, Phase::kPlan));
  }
}

TEST_F(ResourcesTest, ALimitOfZeroIsNothingAndOfMinusOneIsWhole) {  // RSP-17
  Write("mesh/long.txt", std::string(20'000, 'x'));
  const std::string item(kTemplate);
  EXPECT_TRUE(IndexOf(item + ", max_files: 0").items[0].texts.empty());
  EXPECT_TRUE(IndexOf(item + ", max_chars: 0").items[0].texts.empty());
  EXPECT_TRUE(IndexOf(item + ", max_total_chars: 0").items[0].texts.empty());
  const ResourceIndex whole = IndexOf(
      item + ", include_files: [long.txt], max_files: -1, max_chars: -1, max_total_chars: -1");
  ASSERT_EQ(whole.items[0].texts.size(), 1u);
  EXPECT_EQ(whole.items[0].texts[0].text.size(), 20'000u);
  const ResourceIndex cut = IndexOf(item + ", include_files: [long.txt], max_chars: 500");
  EXPECT_LE(cut.items[0].texts[0].text.size(), 500u);
  EXPECT_THAT(cut.items[0].texts[0].text, HasSubstr("characters not shown"));
}

TEST_F(ResourcesTest, AnIndexHasTheTreeAndTheTexts) {  // RSP-18
  const ResourceIndex index = IndexOf(kTemplate);
  ASSERT_EQ(index.items.size(), 1u);
  const IndexedItem& item = index.items[0];
  EXPECT_EQ(item.id, "template:t:local:mesh:.");
  EXPECT_EQ(item.mount, "/workspace/mesh");
  EXPECT_EQ(item.availability, Availability::kAvailable);
  EXPECT_EQ(item.files, 4);
  EXPECT_EQ(item.tree, (std::vector<std::string>{"README.md", "a/", "a/b/", "a/b/c/", "a/b/c/d/",
                                                 "data.bin", "src/", "src/main.c"}));
  std::vector<std::string> shown;
  for (const ResourceText& text : item.texts) shown.push_back(text.path);
  // Without data.bin, which is not text.
  EXPECT_EQ(shown, (std::vector<std::string>{"README.md", "a/b/c/d/e.txt", "src/main.c"}));
}

TEST_F(ResourcesTest, TheDigestIsThatOfTheContentAlone) {  // RSP-18, 8.5
  const std::string before = IndexOf(kTemplate).digest;
  const timespec times[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, (temp_.path() + "/mesh/README.md").c_str(), times, 0), 0);
  EXPECT_EQ(IndexOf(kTemplate).digest, before);

  const TempFolder copy = *TempFolder::Make("copy");
  std::filesystem::copy(temp_.path(), copy.path(), std::filesystem::copy_options::recursive);
  const auto file =
      ReadResourceFile(fmt::format("local: [{{name: mesh, host_path: {}/mesh, mount_path: mesh}}]\n"
                                   "items: [{{{}}}]\n",
                                   copy.path(), kTemplate),
                       {.file = "other.yml"});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(PrepareResources(*file, {}, {})->index.digest, before);

  Write("mesh/data.bin", std::string("\0\1\3", 3));
  EXPECT_NE(IndexOf(kTemplate).digest, before);
}

TEST_F(ResourcesTest, WhatIsMissingIsSaidAndStopsARunOnlyIfRequired) {  // RSP-18, RSP-20
  const std::string item = "name: d, class: document, source: local, resource: mesh, path: no.md";
  const ResourceIndex index = IndexOf(item);
  EXPECT_EQ(index.items[0].availability, Availability::kMissing);
  const auto file = Read("local: [{name: mesh, host_path: mesh, mount_path: mesh}]\nitems: [{" +
                         item + ", required: true}]\n");
  ASSERT_TRUE(file);
  EXPECT_THAT(PrepareResources(*file, {}, {}),
              FailsWith(ErrorCode::kNotFound, "document:d:local:mesh:no.md is required"));
}

TEST_F(ResourcesTest, ALinkOfAResourceLeadsToNoFileOutsideOfIt) {  // RSP-16, RSP-23
  Write("secret/key.txt", "SECRET\n");
  std::filesystem::create_directory_symlink("../secret", temp_.path() + "/mesh/docs");
  std::filesystem::create_symlink("../secret/key.txt", temp_.path() + "/mesh/key.txt");
  std::filesystem::create_symlink("README.md", temp_.path() + "/mesh/inner.md");
  constexpr std::string_view kItems[] = {
      "name: d, class: template, source: local, resource: mesh, path: docs",
      "name: d, class: document, source: local, resource: mesh, path: key.txt",
      "name: d, class: document, source: local, resource: mesh, path: ., include_files: [key.txt]",
      "name: d, class: document, source: local, resource: mesh, path: ., include_files: "
      "[docs/key.txt]"};
  for (const std::string_view item : kItems) {
    const std::string run = temp_.path() + "/run";
    const ResourceIndex index = Prepared(item, run).index;
    EXPECT_THAT(ToJson(ResourcesSection(index, Phase::kPlan)), Not(HasSubstr("SECRET"))) << item;
    EXPECT_FALSE(Exists(run + "/resources/template/d/key.txt"));
    EXPECT_FALSE(Exists(run + "/resources/document/d/key.txt"));
    ASSERT_TRUE(RemoveAll(run));
  }
  EXPECT_THAT(IndexOf(kItems[0]).items[0].reason, HasSubstr("a link leads docs out of mesh"));
  const ResourceIndex inner =
      IndexOf("name: d, class: document, source: local, resource: mesh, path: inner.md");
  EXPECT_THAT(ToJson(ResourcesSection(inner, Phase::kPlan)), HasSubstr("Read me."));
}

TEST_F(ResourcesTest, WhatIsNoFileIsNotCopiedAndEndsNoRun) {  // RSP-20
  ASSERT_EQ(mkfifo((temp_.path() + "/mesh/pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("README.md", temp_.path() + "/mesh/link.md");
  const std::string run = temp_.path() + "/run";
  Prepared(kTemplate, run);
  const std::string copy = run + "/resources/template/t";
  EXPECT_TRUE(Exists(copy + "/src/main.c"));
  EXPECT_FALSE(Exists(copy + "/pipe"));
  EXPECT_FALSE(Exists(copy + "/link.md"));
  Prepared("name: p, class: document, source: local, resource: mesh, path: pipe", run);
  EXPECT_FALSE(Exists(run + "/resources/document/p/pipe"));
}

TEST_F(ResourcesTest, TemplatesAreCopiedAndTheSnapshotIsWritten) {  // RSP-19, RSP-20
  const std::string run = temp_.path() + "/run";
  const PreparedResources ready = Prepared(kTemplate, run);
  EXPECT_TRUE(Exists(run + "/resources/template/t/src/main.c"));
  ASSERT_EQ(ready.binds.size(), 1u);
  EXPECT_EQ(ready.binds[0].mount, "/workspace/mesh");
  EXPECT_EQ(ready.binds[0].access, Bind::Access::kRead);
  const auto snapshot = ParseJson(*ReadFile(run + "/memory/resource_snapshot.json"));
  ASSERT_TRUE(snapshot);
  for (const std::string_view key :
       {"digest", "file", "sha256", "normalised", "items", "created_at", "phase_mode"}) {
    EXPECT_TRUE(snapshot->as_object().contains(key)) << key;
  }
  // The second time nothing changes, not even the creation time.
  EXPECT_EQ(Prepared(kTemplate, run).index.created_at, ready.index.created_at);
}

TEST_F(ResourcesTest, SectionsFollowTheirPhase) {  // RSP-17, RSP-19
  const ResourceIndex index = IndexOf(kTemplate);
  const std::string planning = ToJson(ResourcesSection(index, Phase::kPlan));
  EXPECT_THAT(planning, HasSubstr("template `t` at /workspace/mesh (available)"));
  EXPECT_THAT(planning, HasSubstr("Read me."));
  const std::string running = ToJson(ResourcesSection(index, Phase::kRun));
  EXPECT_THAT(running, HasSubstr("template `t`"));
  EXPECT_THAT(running, Not(HasSubstr("Read me.")));
  EXPECT_TRUE(ResourcesSection(ResourceIndex{}, Phase::kRun).is_null());
}

TEST_F(ResourcesTest, TheIndexTextIsAtMostTwoThousandCharacters) {  // RSP-19
  ResourceIndex index = IndexOf(kTemplate);
  for (int i = 0; i < 200; ++i) index.items.push_back(index.items.front());
  const std::string text = ResourceIndexText(index);
  EXPECT_LE(utf8::CodePoints(text), 2000u);
  EXPECT_THAT(text, HasSubstr("more)"));
  EXPECT_THAT(text, HasSubstr("resource:CLASS:NAME"));
}

TEST_F(ResourcesTest, MemoryGetsTheIndexAndARecordOfEachItem) {  // RSP-19
  const auto store = memory::Store::Open(
      {.path = temp_.path() + "/memory.sqlite", .mode = memory::OpenMode::kCreate});
  ASSERT_TRUE(store) << store.error().message;
  const ResourceIndex index = IndexOf(kTemplate);
  ASSERT_TRUE(RememberResources(index, **store));
  ASSERT_TRUE(RememberResources(index, **store));  // a resume adds nothing twice
  const auto view = (*store)->Snapshot(memory::kRootBranch);
  ASSERT_TRUE(view);
  ASSERT_TRUE(view->Core("RESOURCE_INDEX"));
  EXPECT_EQ(view->Core("RESOURCE_INDEX")->value, ResourceIndexText(index));
  EXPECT_EQ(view->Core("resource_digest")->value, index.digest);
  EXPECT_TRUE(ParseJson(view->Core("resource_index_json")->value));
}

TEST_F(ResourcesTest, AResourceOfTheNetworkIsPendingWhereNothingIsFetched) {
  const auto file = Read(
      "huggingface: [{name: h, type: dataset, repo_id: a/b, revision: v1, dest: sets/b}]\n"
      "items: [{name: b, class: dataset, source: huggingface, resource: h, path: .}]\n");
  ASSERT_TRUE(file) << file.error().message;
  const auto ready = PrepareResources(*file, {.run_folder = temp_.path() + "/run"}, {});
  ASSERT_TRUE(ready) << ready.error().message;
  EXPECT_EQ(ready->index.items[0].availability, Availability::kPendingFetch);
  EXPECT_EQ(ready->index.items[0].fetch_status, FetchStatus::kPending);
  EXPECT_THAT(ToJson(ResourcesSection(ready->index, Phase::kInstall)),
              HasSubstr("huggingface-cli download a/b --repo-type dataset --revision v1 "
                        "--local-dir /workspace/sets/b"));
}

TEST(ExcerptTest, ALongTextHasItsHeadItsEndAndWhatWent) {  // RSP-18
  std::string text;
  for (int line = 1; line <= 500; ++line) text += fmt::format("line {}\n", line);
  const std::string cut = Excerpt(text, 400);
  EXPECT_LE(utf8::CodePoints(cut), 400u);
  EXPECT_THAT(cut, HasSubstr("line 8\n"));
  EXPECT_THAT(cut, Not(HasSubstr("line 9\n")));
  EXPECT_TRUE(cut.ends_with("line 500\n")) << cut;
  EXPECT_THAT(cut, HasSubstr("characters not shown"));
  EXPECT_EQ(Excerpt("short", 400), "short");
  EXPECT_EQ(Excerpt(text, -1), text);
  for (std::int64_t chars = 0; chars < 200; ++chars) {
    EXPECT_LE(utf8::CodePoints(Excerpt(text, chars)), static_cast<std::uint64_t>(chars));
  }
}

// A local repository, which git fetches like any other.
class FetchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Git({"init", "-q", "-b", "main", repo_});
    ASSERT_TRUE(WriteFileAtomic(repo_ + "/a.txt", "one\n"));
    Git({"-C", repo_, "add", "a.txt"});
    Commit("one");
    first_ = Git({"-C", repo_, "rev-parse", "HEAD"});
    ASSERT_TRUE(WriteFileAtomic(repo_ + "/a.txt", "two\n"));
    Git({"-C", repo_, "add", "a.txt"});
    Commit("two");
    Git({"-C", repo_, "tag", "v2"});
  }

  void Commit(const std::string& message) {
    Git({"-C", repo_, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", message});
  }

  static std::string Git(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "git");
    const auto result = RunProcess({.argv = arguments});
    EXPECT_TRUE(result && result->exit_code == 0) << (result ? result->err : "no git");
    return result ? result->out.substr(0, result->out.find('\n')) : "";
  }

  TempFolder temp_ = *TempFolder::Make("fetch");
  const std::string repo_ = temp_.path() + "/repo";
  std::string first_;
};

TEST_F(FetchTest, ACommitATagAndTheDefaultBranchAreFetched) {  // RSP-20
  const struct {
    std::string ref, text;
  } kCases[] = {{first_, "one\n"}, {"v2", "two\n"}, {"", "two\n"}};
  int number = 0;
  for (const auto& example : kCases) {
    const std::string folder = fmt::format("{}/out{}", temp_.path(), number++);
    const ResourceOrigin origin{
        .source = ResourceSource::kGithub, .name = "r", .repo = repo_, .ref = example.ref};
    const Fetched fetched = FetchRepository(origin, folder, {});
    ASSERT_EQ(fetched.status, FetchStatus::kAvailable) << fetched.reason;
    EXPECT_EQ(ReadFile(folder + "/a.txt"), example.text);
    EXPECT_EQ(fetched.head.size(), 40u);
    EXPECT_EQ(fetched.head == first_, example.ref == first_);
    // An existing one is not fetched again.
    ASSERT_TRUE(WriteFileAtomic(folder + "/a.txt", "mine\n"));
    EXPECT_EQ(FetchRepository(origin, folder, {}).head, fetched.head);
    EXPECT_EQ(ReadFile(folder + "/a.txt"), "mine\n");
  }
}

TEST_F(FetchTest, VariablesOfTheCallersOwnRepositoryDoNotCount) {  // as in a hook of git
  setenv("GIT_DIR", "/nowhere", 1);
  const Fetched fetched = FetchRepository(
      {.source = ResourceSource::kGithub, .name = "r", .repo = repo_}, temp_.path() + "/out", {});
  unsetenv("GIT_DIR");
  EXPECT_EQ(fetched.status, FetchStatus::kAvailable) << fetched.reason;
  EXPECT_EQ(fetched.head.size(), 40u);
}

TEST_F(FetchTest, AFailedFetchLeavesItsReasonAndNothingElse) {  // RSP-20
  const ResourceOrigin origin{
      .source = ResourceSource::kGithub, .name = "r", .repo = repo_, .ref = "no-such-branch"};
  const std::string folder = temp_.path() + "/out";
  const Fetched fetched = FetchRepository(origin, folder, {});
  EXPECT_EQ(fetched.status, FetchStatus::kFailed);
  EXPECT_THAT(fetched.reason, HasSubstr("no-such-branch"));
  EXPECT_FALSE(Exists(folder));
  EXPECT_FALSE(Exists(folder + ".part"));

  const auto file = ReadResourceFile(
      fmt::format("github: [{{name: r, repo: {}, ref: nope, dest: r, as: library}}]\n"
                  "items: [{{name: a, class: library, source: github, resource: r, path: .}}]\n",
                  repo_),
      {});
  ASSERT_TRUE(file) << file.error().message;
  const auto ready = PrepareResources(*file, {.run_folder = temp_.path() + "/run"}, {});
  ASSERT_TRUE(ready) << ready.error().message;
  EXPECT_EQ(ready->index.items[0].fetch_status, FetchStatus::kFailed);
  EXPECT_EQ(ready->index.items[0].availability, Availability::kMissing);
  EXPECT_TRUE(ready->binds.empty());
  EXPECT_THAT(ToJson(ResourcesSection(ready->index, Phase::kPlan)), HasSubstr("nope"));
}

TEST(AddressTest, ANameIsOfGithubAndOthersStay) {
  EXPECT_EQ(RepositoryAddress("owner/name"), "https://github.com/owner/name.git");
  EXPECT_EQ(RepositoryAddress("/srv/repo"), "file:///srv/repo");
  EXPECT_EQ(RepositoryAddress("git@host:repo"), "git@host:repo");
  EXPECT_EQ(RepositoryAddress("https://host/repo"), "https://host/repo");
}

}  // namespace
}  // namespace dossier::research
