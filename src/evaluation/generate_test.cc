#include "evaluation/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "evaluation/score.h"
#include "evaluation/solvers/solvers.h"
#include "tokens/files/open.h"

namespace dossier::evaluation {
namespace {

// The counter without a table: tests need no built vocabulary, and lengths are still limits.
FamilySpec SpecOf(std::int64_t length, std::uint64_t seed, std::int64_t questions = 10) {
  FamilySpec spec{.lengths = {length}, .windows = 1, .questions = questions, .seed = seed};
  spec.counter = *tokens::MakeEstimator({.bytes_per_token = 4, .margin = 0});
  return spec;
}

class GenerateTest : public testing::Test {
 protected:
  Result<TaskSet> Generate(const std::string& family, const FamilySpec& spec) {
    return GenerateSet({family}, spec, fmt::format("{}/{}", folder_.path(), ++number_));
  }

  // All bytes of a set.
  static std::string BytesOf(const TaskSet& set) {
    std::string bytes =
        *ReadFile(set.folder + "/manifest.json") + *ReadFile(set.folder + "/tasks.jsonl");
    for (const ContextFile& file : set.manifest.files) bytes += *ReadFile(set.PathOf(file));
    return bytes;
  }

  // Changes one file of a set, with its hash, so that only the proof can find it.
  static void Edit(TaskSet* set, std::string_view prefix,
                   const std::function<std::string(std::string)>& edit) {
    for (ContextFile& file : set->manifest.files) {
      if (!file.path.starts_with(prefix)) continue;
      const std::string text = *ReadFile(set->PathOf(file));
      const std::string changed = edit(text);
      ASSERT_NE(text, changed) << file.path;
      ASSERT_TRUE(WriteFileAtomic(set->PathOf(file), changed));
      file.sha256 = Sha256Hex(changed);
      for (Task& task : set->tasks) {
        for (ContextFile& context : task.contexts) {
          if (context.path == file.path) context.sha256 = file.sha256;
        }
      }
    }
  }

  static bool Proved(const TaskSet& set) {
    const auto report = CheckSet(set, {});
    return report && report->findings.empty();
  }

  TempFolder folder_ = *TempFolder::Make();
  int number_ = 0;
};

struct Size {
  const char* family;
  std::int64_t small, large;
};

constexpr Size kSizes[] = {{"aggregate", 8192, 20'000}, {"pairs", 4096, 9000},
                           {"ruler", 4096, 9000},       {"tables", 50'000, 200'000},
                           {"logs", 50'000, 200'000},   {"hops", 4096, 9000},
                           {"needle", 2048, 6000},      {"long", 50, 2000},
                           {"inject", 8192, 12'000},    {"code", 4096, 9000}};

// EVL-3, EVL-8, EVL-32, EVL-A2, EVL-A3: every family, three seeds, two lengths.
TEST_F(GenerateTest, BothGoldPathsAgreeAndTheOracleScoresOne) {
  for (const Size& size : kSizes) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      for (const std::int64_t length : {size.small, size.large}) {
        SCOPED_TRACE(fmt::format("{} {} seed {}", size.family, length, seed));
        const auto set = Generate(size.family, SpecOf(length, seed));
        ASSERT_TRUE(set) << set.error().message;
        const auto report = CheckSet(*set, {});
        ASSERT_TRUE(report) << report.error().message;
        EXPECT_TRUE(report->findings.empty()) << report->findings.front();
        EXPECT_EQ(report->oracle, 1.0);
        EXPECT_EQ(report->proved, report->tasks);
        EXPECT_GT(report->tasks, 0);
      }
    }
  }
}

// EVL-1: the same spec gives the same bytes; another seed others.
TEST_F(GenerateTest, TheSameSpecGivesTheSameBytes) {
  for (const Size& size : kSizes) {
    SCOPED_TRACE(size.family);
    const std::string first = BytesOf(*Generate(size.family, SpecOf(size.small, 1)));
    EXPECT_EQ(first, BytesOf(*Generate(size.family, SpecOf(size.small, 1))));
    EXPECT_NE(first, BytesOf(*Generate(size.family, SpecOf(size.small, 2))));
  }
}

// EVL-6, EVL-A5: the count is recorded and never above the length.
TEST_F(GenerateTest, WindowsKeepToTheirLength) {
  for (const char* family : {"aggregate", "pairs"}) {
    for (const std::int64_t length : {2048, 5000, 16'384, 40'000}) {
      const FamilySpec spec = SpecOf(length, 4, 1);
      const auto set = Generate(family, spec);
      ASSERT_TRUE(set) << set.error().message;
      for (const Task& task : set->tasks) {
        const std::string text = *set->ReadContext(task.contexts[0]);
        EXPECT_EQ(spec.counter->CountText(text).tokens, task.contexts[0].tokens);
        EXPECT_LE(task.contexts[0].tokens, length);
        EXPECT_GE(task.contexts[0].tokens, length * 7 / 10);
      }
    }
  }
}

// EVL-15, EVL-A2: a date off by one, a lost line, another label: the second path finds each.
TEST_F(GenerateTest, PlantedFaultsOfLinesAreFound) {
  const auto lose_lines = [](std::string text) {
    std::string kept;
    int lines = 0;
    for (const std::string_view line : Split(text, '\n')) {
      if (line.starts_with("Date: ") && ++lines % 3 == 0) continue;
      kept.append(line).push_back('\n');
    }
    return kept;
  };
  const auto move_users = [](std::string text) {
    for (char digit = '8'; digit >= '1'; --digit) {
      text = ReplaceAll(text, std::string("|| User: ") + digit,
                        std::string("|| User: ") + static_cast<char>(digit + 1));
    }
    return text;
  };
  const auto wrong_labels = [](std::string text) {
    return ReplaceAll(ReplaceAll(text, "|| Label: m", "|| Label: s"), "|| Label: c", "|| Label: m");
  };
  const auto a_year_off = [](std::string text) {
    return ReplaceAll(text, ", 2023 ||", ", 2024 ||");
  };
  for (const char* family : {"aggregate", "pairs"}) {
    std::size_t fault = 0;
    constexpr const char* fault_names[] = {"lost lines", "users", "labels", "dates"};
    for (const auto& plant : std::vector<std::function<std::string(std::string)>>{
             lose_lines, move_users, wrong_labels, a_year_off}) {
      SCOPED_TRACE(fault_names[fault++]);
      FamilySpec spec = SpecOf(12'000, 5, 40);
      auto set = Generate(family, spec);
      ASSERT_TRUE(set) << set.error().message;
      Edit(&*set, "labelled/", plant);
      EXPECT_FALSE(Proved(*set)) << family;
    }
  }
}

// EVL-3, section 6: an edited set is reported with both hashes.
TEST_F(GenerateTest, AnEditedSetIsRefused) {
  const auto set = Generate("aggregate", SpecOf(4096, 1, 2));
  ASSERT_TRUE(set);
  const std::string path = set->PathOf(set->manifest.files[0]);
  ASSERT_TRUE(WriteFileAtomic(path, *ReadFile(path) + "\n"));
  const auto report = CheckSet(*set, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kDamaged);
  EXPECT_NE(report.error().message.find(set->manifest.files[0].sha256), std::string::npos);
}

// EVL-8, EVL-A3: texts that give their labels away are found by the floor.
TEST_F(GenerateTest, ALeakyPoolFails) {
  std::string pool;
  for (const char* label : {"comet", "planet", "galaxy"}) {
    for (int i = 0; i < 2000; ++i) {
      pool += ToJson(JsonObject{{"text", fmt::format("note {} about the {} seen", i, label)},
                                {"label", label}}) +
              "\n";
    }
  }
  const std::string path = folder_.path() + "/pool.jsonl";
  ASSERT_TRUE(WriteFileAtomic(path, pool));
  FamilySpec spec = SpecOf(12'000, 1, 20);
  spec.items = path;
  EXPECT_FALSE(Generate("aggregate", spec)) << "all texts are dropped as leaky";
  spec.settings["drop_leaky"] = "off";
  const auto set = Generate("aggregate", spec);
  ASSERT_TRUE(set) << set.error().message;
  const auto report = CheckSet(*set, {});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_NE(report->findings[0].find("floor"), std::string::npos);
  EXPECT_NE(report->findings[0].find("about the "), std::string::npos) << "it names items";
}

// EVL-5
TEST_F(GenerateTest, PoolsAreCleaned) {
  const std::string path = folder_.path() + "/pool.jsonl";
  const auto pool_of = [&](const std::string& lines) {
    EXPECT_TRUE(WriteFileAtomic(path, lines));
    FamilySpec spec = SpecOf(2048, 1, 2);
    spec.items = path;
    return Generate("aggregate", spec);
  };
  EXPECT_EQ(pool_of("{\"text\":\"a text of one label\",\"label\":\"first\"}\n").error().code,
            ErrorCode::kConfig);
  const auto bad_row = pool_of("{\"text\":\"a\"}\n");
  EXPECT_NE(bad_row.error().message.find("pool.jsonl:1"), std::string::npos);
  for (const char* label : {"a:b", "a*", "[a]", "a||b"}) {
    EXPECT_EQ(pool_of(ToJson(JsonObject{{"text", "a text that is long enough"}, {"label", label}}))
                  .error()
                  .code,
              ErrorCode::kConfig);
  }
  std::string lines;
  for (int i = 0; i < 400; ++i) {
    for (const char* label : {"first", "second"}) {
      lines += ToJson(JsonObject{{"text", fmt::format("a || text\nof number {} {}", i,
                                                      label[0] == 'f' ? "one" : "two")},
                                 {"label", label}}) +
               "\n";
    }
  }
  lines += "{\"text\":\"the same in both\",\"label\":\"first\"}\n";
  lines += "{\"text\":\"the same in both\",\"label\":\"second\"}\n";
  lines += "{\"text\":\"short\",\"label\":\"first\"}\n";
  lines += "{\"text\":\"this names the Second label\",\"label\":\"first\"}\n";
  lines += "{\"text\":\"" + std::string(2001, 'x') + "\",\"label\":\"first\"}\n";
  lines += lines.substr(0, lines.find('\n') + 1);
  const auto set = pool_of(lines);
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->manifest.pool.rows, 800);
  EXPECT_EQ(set->manifest.pool.dropped,
            (std::map<std::string, std::int64_t>{
                {"duplicate", 1}, {"leaky", 1}, {"long", 1}, {"short", 1}, {"two_labels", 1}}));
  const std::string text = *set->ReadContext(set->tasks[0].contexts[0]);
  EXPECT_NE(text.find("Instance: a | text of number"), std::string::npos);
}

// EVL-7, EVL-13: the mix, and how much of it a program alone answers.
TEST_F(GenerateTest, QuestionsKeepTheirMix) {
  FamilySpec spec = SpecOf(20'000, 6);
  spec.windows = 5;
  const auto set = Generate("aggregate", spec);
  ASSERT_TRUE(set) << set.error().message;
  std::map<std::string, int> groups;
  int structure = 0;
  for (const Task& task : set->tasks) {
    ++groups[TextAt(task.meta, "task_group")];
    structure += task.needs == Needs::kStructure;
  }
  EXPECT_EQ(groups, (std::map<std::string, int>{{"counting", 20}, {"timeline", 15}, {"user", 15}}));
  EXPECT_LE(structure, 10);
  EXPECT_GT(structure, 0);
}

// EVL-13: two windows of 25, as published.
TEST_F(GenerateTest, TheOfficialShapeHasTwoWindows) {
  FamilySpec spec = SpecOf(12'000, 1);
  spec.settings["shape"] = "official";
  const auto set = Generate("aggregate", spec);
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->tasks.size(), 50u);
  EXPECT_EQ(set->manifest.files.size(), 4u);
}

// Every question has the answer that wrong labels would give, or none at all.
TEST_F(GenerateTest, GoldUnderWrongLabelsIsKept) {
  const auto set = Generate("aggregate", SpecOf(12'000, 1, 20));
  ASSERT_TRUE(set);
  int kept = 0, differ = 0;
  for (const Task& task : set->tasks) {
    if (task.needs != Needs::kLabel) continue;
    if (const Json* gold = Find(task.stub_gold, "0.5")) {
      ++kept;
      differ += *gold != task.gold;
    }
  }
  EXPECT_GT(kept, 10);
  EXPECT_GT(differ, 3);
}

// Section 6
TEST_F(GenerateTest, BadSpecsAreNamedWithTheWayOut) {
  const Error unknown = Generate("agregate", SpecOf(4096, 1)).error();
  EXPECT_EQ(unknown.code, ErrorCode::kConfig);
  EXPECT_NE(unknown.message.find("aggregate"), std::string::npos);
  const Error small = Generate("aggregate", SpecOf(300, 1)).error();
  EXPECT_EQ(small.code, ErrorCode::kConfig);
  std::int64_t works = 0;
  const std::size_t at = small.message.rfind(' ');
  works = std::stoll(small.message.substr(at + 1));
  EXPECT_TRUE(Generate("pairs", SpecOf(works, 1, 1))) << works;
  FamilySpec spec = SpecOf(4096, 1);
  spec.settings["nonsense"] = "1";
  EXPECT_NE(Generate("aggregate", spec).error().message.find("nonsense"), std::string::npos);
  EXPECT_EQ(std::system(("ls " + folder_.path() + " | grep -q part").c_str()) == 0, false)
      << "nothing half-made is left";
}

// 5.1: damage in tasks.jsonl is reported with its line.
TEST_F(GenerateTest, DamagedSetsAreNamedByLine) {
  const auto set = Generate("pairs", SpecOf(4096, 1, 3));
  ASSERT_TRUE(set);
  const std::string path = set->folder + "/tasks.jsonl", rows = *ReadFile(path);
  const auto error_of = [&](const std::string& text) {
    EXPECT_TRUE(WriteFileAtomic(path, text));
    const auto loaded = TaskSet::Load(set->folder);
    return loaded ? Error{} : loaded.error();
  };
  const std::string first = rows.substr(0, rows.find('\n') + 1);
  EXPECT_NE(error_of(rows + first).message.find(":4: the id"), std::string::npos);
  EXPECT_NE(error_of("{}\n" + rows).message.find(":1: "), std::string::npos);
  EXPECT_NE(error_of(ReplaceAll(rows, "contexts/", "../contexts/")).message.find("manifest"),
            std::string::npos);
  EXPECT_NE(error_of(ReplaceAll(rows, "\"id\":\"", "\"id\":\"../")).message.find("slash"),
            std::string::npos);
  EXPECT_NE(error_of(ReplaceAll(rows, "\"gold\":[", "\"gold\":[7,")).message.find("gold"),
            std::string::npos);
  EXPECT_EQ(error_of(rows + first).code, ErrorCode::kDamaged);
}

}  // namespace
}  // namespace dossier::evaluation
