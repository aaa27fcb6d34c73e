#include "evaluation/families/families.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "evaluation/families/lines.h"
#include "evaluation/families/python_lexer.h"
#include "evaluation/generate.h"
#include "evaluation/score.h"
#include "evaluation/tasks/dates.h"
#include "evaluation/tasks/grammar.h"

namespace dossier::evaluation {
namespace {

FamilySpec Spec(std::int64_t length, std::int64_t windows = 1, std::int64_t questions = 10) {
  FamilySpec spec{.lengths = {length}, .windows = windows, .questions = questions};
  spec.counter = *tokens::MakeEstimator({.bytes_per_token = 4, .margin = 0});
  return spec;
}

class FamiliesTest : public testing::Test {
 protected:
  TaskSet Generate(const std::string& family, const FamilySpec& spec) {
    auto set = GenerateSet({family}, spec, fmt::format("{}/{}", folder_.path(), ++number_));
    EXPECT_TRUE(set) << set.error().message;
    return set ? std::move(*set) : TaskSet{};
  }

  // Returns true if the second path finds `edit` in the contexts of a set.
  bool Finds(const std::string& family, const FamilySpec& spec,
             const std::function<std::string(std::string)>& edit) {
    TaskSet set = Generate(family, spec);
    for (ContextFile& file : set.manifest.files) {
      const std::string changed = edit(*ReadFile(set.PathOf(file)));
      EXPECT_TRUE(WriteFileAtomic(set.PathOf(file), changed));
      file.sha256 = Sha256Hex(changed);
      for (Task& task : set.tasks) {
        for (ContextFile& context : task.contexts) {
          if (context.path == file.path) context.sha256 = file.sha256;
        }
      }
    }
    const auto report = CheckSet(set, {});
    return !report || !report->findings.empty();
  }

  TempFolder folder_ = *TempFolder::Make();
  int number_ = 0;
};

struct Read {
  std::int64_t user;
  std::string date, label;
};

// A third reader of the labelled twin, for tests only.
std::vector<Read> LinesOf(const TaskSet& set, const Task& task) {
  std::vector<Read> lines;
  const std::string text = *set.ReadLabelled(task.contexts[0]);
  std::string month, day, year, label;
  std::int64_t user = 0;
  for (const std::string_view line : Split(text, '\n')) {
    if (RE2::FullMatch(
            re2::StringPiece(line.data(), line.size()),
            R"(Date: (\w+) (\d+), (\d+) \|\| User: (\d+) \|\| Instance: .* \|\| Label: (.*))",
            &month, &day, &year, &user, &label)) {
      lines.push_back({user, IsoDate(*ParseDate(month + " " + day + ", " + year)), label});
    }
  }
  return lines;
}

// EVL-10, EVL-11, EVL-12, EVL-A5: the window, and the forms of the questions.
TEST_F(FamiliesTest, WindowsAndQuestionsStandAsWritten) {
  const TaskSet set = Generate("aggregate", Spec(8192));
  const std::string text = *set.ReadContext(set.tasks[0].contexts[0]);
  const auto lines = Split(text, '\n');
  int count = 0;
  std::map<std::int64_t, int> users;
  for (const std::string_view line : lines) {
    std::int64_t user = 0;
    if (!line.starts_with("Date: ")) continue;
    ++count;
    ASSERT_TRUE(RE2::FullMatch(
        re2::StringPiece(line.data(), line.size()),
        R"(Date: [A-Z][a-z]{2} \d\d, 20\d\d \|\| User: (\d{5}) \|\| Instance: .{8,})", &user))
        << line;
    EXPECT_EQ(line.find("Label:"), std::string_view::npos);
    ++users[user];
  }
  const std::string frame = fmt::format(
      "The {} lines hold short notes, each with a date, a user id and a text. Each text belongs to "
      "exactly "
      "one of these labels: astronomy, carpentry, cooking, gardening, music, sailing. The labels "
      "are not "
      "written: decide by meaning. Compute over all lines, do not estimate.",
      count);
  EXPECT_EQ(lines[0], frame);
  EXPECT_EQ(lines[lines.size() - 2], frame);
  const auto common =
      std::count_if(users.begin(), users.end(), [](const auto& u) { return u.second >= 3; });
  EXPECT_NEAR(common, count / 10, count / 20);
  const std::set<std::string> forms{
      "'Label: X', where X is one of: astronomy, carpentry, cooking, gardening, music, sailing.",
      "'Answer: N', where N is a whole number.", "'User: N', where N is a user id.",
      "'Date: MM/DD/YYYY'.", "'Answer: Month YYYY', the month's name in full."};
  for (const Task& task : set.tasks) {
    const std::size_t at = task.question.find(" Answer with one line, ");
    ASSERT_NE(at, std::string::npos) << task.question;
    const std::string form = task.question.substr(at + 23);
    EXPECT_TRUE(forms.contains(form) || form.starts_with("'Answer: ")) << form;
  }
}

// EVL-11: what is drawn for 250 windows has the shares that are asked for.
TEST_F(FamiliesTest, UsersAndDatesAreDrawnAsAsked) {
  const TaskSet set = Generate("aggregate", Spec(40'000, 4, 1));
  std::int64_t all = 0, common = 0;
  for (const Task& task : set.tasks) {
    const std::vector<Read> lines = LinesOf(set, task);
    std::map<std::int64_t, std::int64_t> users;
    for (const Read& line : lines) {
      ++users[line.user];
      EXPECT_GE(line.date, "2022-02-16");
      EXPECT_LE(line.date, "2025-06-21");
    }
    std::vector<std::int64_t> sizes;
    for (const auto& [user, count] : users) sizes.push_back(count);
    std::sort(sizes.rbegin(), sizes.rend());
    for (std::size_t i = 0; i < lines.size() / 10; ++i) common += sizes[i];
    all += static_cast<std::int64_t>(lines.size());
  }
  EXPECT_NEAR(static_cast<double>(common) / static_cast<double>(all), 0.8, 0.03);
}

// EVL-4, EVL-A4: no question of 10,000 is closer to a tie than its rule allows.
TEST_F(FamiliesTest, NoQuestionIsTooCloseToCall) {
  const TaskSet set = Generate("aggregate", Spec(5000, 667, 15));
  ASSERT_EQ(set.tasks.size(), 10'005u);
  EXPECT_GT(set.manifest.refused.at("share_gap"), 100);
  std::string window, a, b, x, y;
  std::vector<Read> lines;
  int looked_at = 0;
  for (const Task& task : set.tasks) {
    if (task.window != window) lines = LinesOf(set, task);
    window = task.window;
    std::map<std::string, std::int64_t> counts{{"astronomy", 0}, {"carpentry", 0}, {"cooking", 0},
                                               {"gardening", 0}, {"music", 0},     {"sailing", 0}};
    for (const Read& line : lines) ++counts[line.label];
    const auto n = static_cast<std::int64_t>(lines.size());
    if (task.question.starts_with("Which label is the ")) {
      std::vector<std::int64_t> sizes;
      for (const auto& [label, count] : counts) sizes.push_back(count);
      std::sort(sizes.begin(), sizes.end());
      const bool most = task.question.find("most common") != std::string::npos;
      EXPECT_GT(most ? sizes[5] - sizes[4] : sizes[1] - sizes[0], n / 50) << task.id;
      ++looked_at;
    } else if (RE2::PartialMatch(task.question, "^Is (\\w+) more common than (\\w+),", &a, &b)) {
      const std::int64_t gap = std::abs(counts[a] - counts[b]);
      EXPECT_TRUE(gap == 0 || gap * 50 > n) << task.id;
      ++looked_at;
    } else if (RE2::PartialMatch(task.question,
                                 "^Which of the users (\\d+) and (\\d+) has more lines with "
                                 "the label (\\w+)",
                                 &x, &y, &a)) {
      std::int64_t lead = 0;
      for (const Read& line : lines) {
        if (line.label == a)
          lead += (std::to_string(line.user) == x) - (std::to_string(line.user) == y);
      }
      EXPECT_GE(std::abs(lead), 2) << task.id;
      ++looked_at;
    }
  }
  EXPECT_GT(looked_at, 2000);
}

// EVL-20, EVL-21, EVL-A6: the twenty conditions in full words, against brute force over all pairs.
TEST_F(FamiliesTest, PairsEqualBruteForce) {
  using User = std::map<char, std::vector<std::string>>;  // slot -> dates
  using Test = std::function<bool(const User&, const User&)>;
  const auto n = [](const User& user, char slot) {
    const auto found = user.find(slot);
    return found == user.end() ? 0 : static_cast<int>(found->second.size());
  };
  const auto either = [n](char a, char b) -> Test {
    return [=](const User& u, const User& v) {
      return n(u, a) + n(u, b) > 0 && n(v, a) + n(v, b) > 0;
    };
  };
  const auto dated = [n](char a, char b, char slot, bool after, std::string day) -> Test {
    const auto one = [=](const User& u) {
      if (n(u, a) + n(u, b) == 0) return false;
      if (n(u, slot) == 0) return true;
      const auto& days = u.at(slot);
      return std::all_of(days.begin(), days.end(),
                         [&](const std::string& d) { return after ? d > day : d < day; });
    };
    return [=](const User& u, const User& v) { return one(u) && one(v); };
  };
  const auto roles = [](std::function<bool(const User&)> f,
                        std::function<bool(const User&)> g) -> Test {
    return [=](const User& u, const User& v) { return (f(u) && g(v)) || (f(v) && g(u)); };
  };
#define COND(expression) [n](const User& u) { return expression; }
  const std::vector<Test> tests{
      either('A', 'B'),
      either('C', 'D'),
      either('E', 'F'),
      dated('B', 'D', 'D', true, "2023-01-06"),
      dated('A', 'C', 'C', false, "2023-03-15"),
      either('B', 'F'),
      dated('A', 'E', 'A', true, "2023-02-01"),
      either('D', 'E'),
      dated('B', 'C', 'B', true, "2023-04-10"),
      dated('A', 'F', 'F', false, "2023-05-20"),
      roles(COND(n(u, 'C') >= 1 && n(u, 'F') >= 1), COND(n(u, 'C') == 1)),
      roles(COND(n(u, 'A') >= 2), COND(n(u, 'B') >= 1 && n(u, 'D') >= 1)),
      roles(COND(n(u, 'E') == 1), COND(n(u, 'F') >= 1 && n(u, 'C') >= 1)),
      roles(COND(n(u, 'D') >= 1 && n(u, 'A') >= 1), COND(n(u, 'B') == 2)),
      roles(COND(n(u, 'C') >= 1 && n(u, 'B') >= 1 && n(u, 'F') >= 1), COND(n(u, 'A') == 1)),
      roles(COND(n(u, 'E') >= 1 && n(u, 'D') >= 1), COND(n(u, 'C') >= 2 && n(u, 'F') == 1)),
      roles(COND(n(u, 'A') == 1), COND(n(u, 'B') >= 1 && n(u, 'E') >= 1)),
      roles(COND(n(u, 'F') >= 1 && n(u, 'D') == 1), COND(n(u, 'C') >= 1 && n(u, 'A') >= 1)),
      roles(COND(n(u, 'B') >= 2 && n(u, 'C') >= 1), COND(n(u, 'E') == 1 && n(u, 'F') == 1)),
      roles(COND(n(u, 'A') >= 1 && n(u, 'D') >= 1),
            COND(n(u, 'B') >= 1 && n(u, 'C') >= 1 && n(u, 'F') == 1))};
#undef COND
  const TaskSet set = Generate("pairs", Spec(30'000, 12, 20));
  ASSERT_EQ(set.tasks.size(), 240u);
  int empty = 0;
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    const Task& task = set.tasks[i];
    const std::map<std::string, char> slots{{"astronomy", 'A'}, {"carpentry", 'B'},
                                            {"cooking", 'C'},   {"gardening", 'D'},
                                            {"music", 'E'},     {"sailing", 'F'}};
    std::map<std::int64_t, User> users;
    for (const Read& line : LinesOf(set, task))
      users[line.user][slots.at(line.label)].push_back(line.date);
    std::vector<std::string> wanted;
    for (auto u = users.begin(); u != users.end(); ++u) {
      for (auto v = std::next(u); v != users.end(); ++v) {
        if (tests[i % 20](u->second, v->second))
          wanted.push_back(fmt::format("({}, {})", u->first, v->first));
      }
    }
    EXPECT_EQ(StringsOf(&task.gold), wanted) << "condition " << i % 20 + 1 << ": " << task.question;
    empty += wanted.empty();
  }
  EXPECT_LT(empty, 60);
}

// EVL-23
TEST_F(FamiliesTest, NeedlesStandAtFortyDepthsInAllVariants) {
  const TaskSet set = Generate("needle", Spec(4096, 40));
  std::set<std::int64_t> depths;
  std::map<std::string, int> variants;
  for (const Task& task : set.tasks) {
    depths.insert(*FindInt(task.meta, "depth"));
    const std::string variant = TextAt(task.meta, "variant");
    ++variants[variant];
    EXPECT_EQ(StringsOf(&task.gold)[0] == "not found", variant == "none");
  }
  EXPECT_EQ(depths.size(), 40u);
  EXPECT_EQ(variants.size(), 5u);
}

// EVL-24, EVL-25, EVL-A8: strings and counts of the recipe; the size within one unit of the length.
TEST_F(FamiliesTest, RulerKeepsToTheRecipe) {
  const TaskSet set = Generate("ruler", Spec(8192, 1, 11));
  ASSERT_EQ(set.tasks.size(), 11u);
  const FamilySpec spec = Spec(8192);
  std::set<std::string> names;
  for (const Task& task : set.tasks) {
    const std::string name = TextAt(task.meta, "task"), text = *set.ReadContext(task.contexts[0]);
    SCOPED_TRACE(name);
    names.insert(name);
    const std::int64_t tokens =
        spec.counter->CountText(text + task.question).tokens + *FindInt(task.meta, "answer_tokens");
    EXPECT_LE(tokens, 8192);
    EXPECT_GE(tokens, 8192 - 260);  // a paragraph is the largest unit
    const std::size_t gold = StringsOf(&task.gold).size();
    if (name.starts_with("niah")) {
      const bool many = gold > 1;
      EXPECT_EQ(gold, name == "niah_multivalue" || name == "niah_multiquery" ? 4u : 1u);
      EXPECT_TRUE(text.starts_with(
          many ? "Some special magic numbers are hidden within the following text. "
                 "Make sure to memorize it. I will quiz you about the numbers afterwards."
               : "A special magic "))
          << text.substr(0, 80);
      EXPECT_TRUE(task.question.starts_with(many ? "What are all the special magic numbers for "
                                                 : "What is the special magic "));
      EXPECT_TRUE(task.question.ends_with(" mentioned in the provided text?"));
    } else if (name == "vt") {
      EXPECT_EQ(gold, 5u);
      EXPECT_NE(
          text.find(
              "\nThe grass is green. The sky is blue. The sun is yellow. Here we go. There and "
              "back again.\n"),
          std::string::npos);
      EXPECT_TRUE(RE2::FullMatch(task.question,
                                 "Question: Find all variables that are assigned the value "
                                 "\\d{5} in the text above\\."));
    } else if (name == "cwe") {
      std::map<std::string, int> counts;
      std::string word;
      re2::StringPiece rest(text);
      rest.remove_prefix(text.rfind("Below is a numbered list of words."));
      while (RE2::FindAndConsume(&rest, "\\d+\\. (\\w+)", &word)) ++counts[word];
      std::map<int, int> of;
      for (const auto& [one, count] : counts) ++of[count];
      EXPECT_EQ(of.size(), 2u);
      EXPECT_EQ(of[30], 10);
      EXPECT_GT(of[3], 100);
    } else {
      EXPECT_EQ(gold, 3u);
      std::map<std::string, int> counts;
      for (const std::string_view word : Split(TrimSpace(text), ' ')) ++counts[std::string(word)];
      const auto n = static_cast<double>(*FindInt(task.meta, "units"));
      for (int rank = 2; rank <= 4; ++rank) {
        EXPECT_EQ(counts[StringsOf(&task.gold)[static_cast<std::size_t>(rank - 2)]],
                  static_cast<int>(n / (rank * rank * 1.6449340668482264)));
      }
      EXPECT_EQ(counts["..."], static_cast<int>(n / 1.6449340668482264));
    }
  }
  EXPECT_EQ(names.size(), 11u);
  EXPECT_EQ(names.count("qa_1"), 0u);
}

// EVL-A2: a planted fault in each family is found by its second path.
TEST_F(FamiliesTest, PlantedFaultsAreFound) {
  const auto replace = [](std::string from, std::string to) {
    return [=](std::string text) { return ReplaceAll(text, from, to); };
  };
  const auto without_middle = [](std::string text) {  // loses lines
    std::string kept;
    int number = 0;
    for (const std::string_view line : Split(text, '\n')) {
      if (++number % 4 != 3) kept.append(line).push_back('\n');
    }
    return kept;
  };
  EXPECT_TRUE(Finds("needle", Spec(4096, 5), replace(" is known to ", " is now known to ")));
  EXPECT_TRUE(Finds("needle", Spec(4096, 5), [](std::string text) { return text + text; }));
  EXPECT_TRUE(Finds("ruler", Spec(4096, 1, 11), replace("= VAR ", "= VARX ")));
  EXPECT_TRUE(Finds("ruler", Spec(4096, 1, 11), replace(" is: 1", " is: 2")));
  EXPECT_TRUE(Finds("hops", Spec(4096, 2), replace(" handed the ", " showed the ")));
  EXPECT_TRUE(Finds("hops", Spec(4096, 2), without_middle));
  EXPECT_TRUE(Finds("tables", Spec(50'000, 4), replace("chisel", "gimlet")));
  EXPECT_TRUE(Finds("logs", Spec(50'000), without_middle));
  EXPECT_TRUE(Finds("logs", Spec(50'000), replace("billing", "gateway")));
  EXPECT_TRUE(Finds("long", Spec(300), without_middle));
  EXPECT_TRUE(Finds("inject", Spec(9000), replace("Label: music", "Label: cooking")));
  EXPECT_TRUE(Finds("code", Spec(4096), replace("    return do_", "    return x_do_")));
}

// EVL-30
TEST_F(FamiliesTest, HopsCanSpreadOverAThousandPages) {
  FamilySpec spec = Spec(200'000, 1, 2);
  spec.settings["pages"] = "1000";
  const TaskSet set = Generate("hops", spec);
  ASSERT_EQ(set.tasks.size(), 2u);
  EXPECT_EQ(set.tasks[0].contexts.size(), 1000u);
}

// EVL-31, EVL-A9: names in comments, strings and continued lines; methods; nothing that is no code.
TEST(PythonLexerTest, IsNotTakenInByTraps) {
  PythonFacts facts;
  ReadPython("a.py",
             "import os, pkg.mod as m\n"
             "from x.y import (\n    z,\n    w)\nfrom . import near\n"
             "LIMIT = 42\nOTHER = LIMIT\nHEX = 0x10\n"
             "def f(a, b=g(1)):  # f(2) h(3)\n"
             "    '''f(4)\n    f(5)'''\n"
             "    s = \"f(6) \\\" f(7)\" + 'f(8)' + rb'f(9)'\n"
             "    import late; from later import q\n"
             "    LIMIT = 7\n"
             "    return f(a) + obj.f(\n        f)\n"
             "class C(Base):\n    def f(self): return self.f() if (1) else not (2)\n"
             "f\n(10)\n",
             &facts);
  EXPECT_EQ(facts.calls, (std::map<std::string, std::int64_t>{{"f", 3}, {"g", 1}}));
  EXPECT_EQ(facts.definitions.at("f").size(), 2u);
  EXPECT_EQ(facts.definitions.at("C").size(), 1u);
  EXPECT_EQ(facts.imports.at("a.py"),
            (std::set<std::string>{"late", "later", "os", "pkg.mod", "x.y"}));
  EXPECT_EQ(facts.constants, (std::map<std::string, std::vector<std::string>>{{"LIMIT", {"42"}}}));
}

// EVL-31: any tree; what the two readers do not agree on is not asked.
TEST_F(FamiliesTest, CodeAsksAboutATreeOfTheUser) {
  const std::string tree = folder_.path() + "/tree";
  ASSERT_TRUE(MakeFolders(tree + "/pkg"));
  ASSERT_TRUE(WriteFileAtomic(tree + "/pkg/a.py",
                              "import os\nimport sys\nLIMIT = 12\n\n\ndef first(x):\n    return "
                              "second(x) + third(x) + fourth(f'{second(x)}')\n"));
  ASSERT_TRUE(
      WriteFileAtomic(tree + "/pkg/b.py",
                      "import os\n\n\ndef second(x):\n    return third(x)\n\n\ndef "
                      "third(x):\n    return fourth(x)\n\n\ndef fourth(x):\n    return x\n"));
  FamilySpec spec = Spec(4096, 4, 10);
  spec.settings["tree"] = tree;
  const TaskSet set = Generate("code", spec);
  EXPECT_GT(set.manifest.refused.at("readers_differ"), 0) << "second is called inside a string too";
  std::set<std::string> asked;
  for (const Task& task : set.tasks) asked.insert(task.question.substr(0, 12));
  EXPECT_EQ(asked.size(), 5u) << "every kind";
}

// EVL-34, EVL-36, EVL-A11: each kind of command with its canary, beside a twin of equal size.
TEST_F(FamiliesTest, InjectedCommandsHaveATwin) {
  const TaskSet set = Generate("inject", Spec(6000, 9, 2));
  std::set<std::string> kinds;
  std::map<std::string, const Task*> tasks;
  for (const Task& task : set.tasks) tasks[task.id] = &task;
  for (const Task& task : set.tasks) {
    const std::string kind = TextAt(task.meta, "planted"), canary = TextAt(task.meta, "canary");
    const Task& twin = *tasks.at(TextAt(task.meta, "twin"));
    EXPECT_EQ(task.question, twin.question);
    EXPECT_EQ(task.gold, twin.gold);
    EXPECT_NEAR(static_cast<double>(task.contexts[0].tokens),
                static_cast<double>(twin.contexts[0].tokens), 40);
    EXPECT_LE(task.contexts[0].tokens, 6000);
    const std::string text = *set.ReadContext(task.contexts[0]);
    EXPECT_EQ(text.find(canary) == std::string::npos, kind == "none");
    if (kind != "none") kinds.insert(kind);
  }
  EXPECT_EQ(kinds.size(), 9u);
}

// EVL-33
TEST_F(FamiliesTest, LongAnswersAreScoredLineByLine) {
  const TaskSet set = Generate("long", Spec(1000, 1, 3));
  ASSERT_EQ(set.tasks.size(), 3u);
  const Task& sort = set.tasks[0];
  ASSERT_EQ(StringsOf(&sort.gold).size(), 1000u);
  const std::string answer = *WriteAnswer(sort, sort.gold);
  EXPECT_EQ(ScoreAnswer(sort, answer)->rule, "exact");
  EXPECT_EQ(ScoreAnswer(sort, answer.substr(answer.find('\n') + 1))->official, 0.999);
}

// EVL-5: over 5,000 own texts of six labels, none of which names a label.
TEST(GrammarTest, HasTextsThatNameNoLabel) {
  const auto topics = grammar::Topics();
  ASSERT_EQ(topics.size(), 6u);
  for (const grammar::Topic& topic : topics) {
    EXPECT_GT(grammar::Count(topic), 5000u);
    std::set<std::string> texts;
    for (std::size_t i = 0; i < 5000; ++i) {
      const std::string text = ToLowerAscii(grammar::Text(topic, i * 83 % grammar::Count(topic)));
      texts.insert(text);
      for (const grammar::Topic& other : topics)
        EXPECT_EQ(text.find(other.label), std::string::npos) << text;
    }
    EXPECT_EQ(texts.size(), 5000u);
  }
}

}  // namespace
}  // namespace dossier::evaluation
