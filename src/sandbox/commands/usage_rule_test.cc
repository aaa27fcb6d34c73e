#include "sandbox/commands/usage_rule.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "base/text/text.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

// Stands for "in the jail after symbolic links".
bool Inside(const std::string& path) {
  return path.find("..") == std::string::npos && path[0] != '/';
}

Argv Words(std::string_view text) {
  Argv words;
  for (const std::string_view word : Split(text, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

TEST(UsageRuleTest, TheExampleInTheHeaderWorks) {
  const auto rule = UsageRule::Parse("git log [--oneline] [-n <int>] [--since=<word>] <path>...");
  ASSERT_THAT(rule, Succeeds());
  EXPECT_TRUE(rule->Admits({"git", "log", "-n", "2", "src"}, Inside));
  EXPECT_FALSE(rule->Admits({"git", "log", "--output=x", "src"}, Inside));
}

TEST(UsageRuleTest, EveryFormOfTheGrammar) {  // CON-34
  const struct {
    std::string_view rule;
    std::vector<std::string_view> admits, refuses;
  } cases[] = {
      {"pwd", {"pwd"}, {"pwd x", "pwd -L", "pwd --", "pwdx"}},
      {"git log|show", {"git log", "git show"}, {"git", "git push", "git log show", "log"}},
      {"ls [-a|--all] [-l]",
       {"ls", "ls -a", "ls --all -l", "ls -la", "ls -al -a"},
       {"ls -x", "ls -lx", "ls --al", "ls -", "ls --all=1", "ls x", "ls --", "ls ---all"}},
      {"head [-n <int>] [-<int>] <path>",
       {"head x", "head -n 2 x", "head -n2 x", "head x -n 2", "head -20 x", "head -n +5 x",
        "head -- x", "head -- ./-x", "head -n 1 -n 2 x"},
       {"head", "head -n x", "head -n -2 x", "head -n", "head -2x x", "head -+2 x", "head ../x",
        "head /etc/x", "head x y", "head -n 9999999999999999999 x", "head -- ../x", "head -- -x"}},
      {"git log [-i] [-n <int>] [--since=<word>]",
       {"git log --since=now", "git log --since now", "git log -in2", "git log -in 2",
        "git log --since=", "git log -i -n 3 --since=a"},
       {"git log --since", "git log --since -x", "git log --since=-x", "git log -ni",
        "git log --sinc=now", "git log --since --since=x"}},
      {"find [<path>...] [-name <word>] [-o]",
       {"find", "find a b", "find -name x", "find a -name x -o -name y"},
       {"find -delete", "find a -exec rm", "find -name -delete", "find -namex", "find -name=x"}},
      {"grep [-e <word>] <word> [<path>...]",
       {"grep x", "grep x a b", "grep x -e y a", "grep -ey x"},
       {"grep", "grep -x", "grep x ../a", "grep x -f a", "grep -e"}},
      {"cp <path>... <word>", {"cp a b", "cp a b c"}, {"cp a", "cp", "cp ../a b", "cp -r a b"}},
      {"sleep <int> [<word>]", {"sleep 1", "sleep 1 x"}, {"sleep x", "sleep 1 x y", "sleep -1"}},
      {"python3 **", {"python3", "python3 -c x", "python3 ../x -- --"}, {"python", "python3x"}},
      {"ls *", {"ls", "ls -la x", "ls ../x"}, {"lsof", "l"}},
      {"git l*", {"git log", "git ls"}, {"git push", "git log x", "git"}},
      {"git * x?", {"git log xy"}, {"git -C xy", "git log x", "git log xyz"}},
      {"cat *.txt", {"cat a.txt"}, {"cat -.txt", "cat a", "cat a.txt b.txt"}},
  };
  for (const auto& c : cases) {
    const auto rule = UsageRule::Parse(c.rule);
    ASSERT_THAT(rule, Succeeds()) << c.rule;
    for (const auto text : c.admits)
      EXPECT_TRUE(rule->Admits(Words(text), Inside)) << c.rule << " | " << text;
    for (const auto text : c.refuses)
      EXPECT_FALSE(rule->Admits(Words(text), Inside)) << c.rule << " | " << text;
  }
}

TEST(UsageRuleTest, AnOpenEndSaysSo) {  // CON-34
  EXPECT_TRUE(UsageRule::Parse("python3 **")->open_ended());
  EXPECT_TRUE(UsageRule::Parse("ls *")->open_ended());
  EXPECT_FALSE(UsageRule::Parse("ls [-l] <path>...")->open_ended());
}

TEST(UsageRuleTest, MalformedLinesAreNamedWithThePlace) {  // CON-34
  const struct {
    std::string_view line, part;
  } cases[] = {
      {"", "names no program"},
      {"[-a]", "the program comes first"},
      {"<path>", "the program comes first"},
      {"ls [-a", "byte 4: the bracket never closes"},
      {"ls [a]", "expected an option"},
      {"ls [-n <float>]", "as the option's value"},
      {"ls [---n]", "expected an option"},
      {"ls [-]", "expected an option"},
      {"ls <file>", "expected <path>, <word> or <int>"},
      {"ls <path>..", "expected <path>"},
      {"ls [-a] log", "fixed words come before"},
      {"ls ** x", "nothing may follow"},
      {"**", "needs a program in front"},
      {"ls [-a] *", "fixed words come before"},
      {"ls* [-a]", "have no place beside"},
      {"git log|", "an empty alternative"},
      {"ls a]b", "a bracket inside a word"},
      {"ls [-a]x", "expected a space"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(UsageRule::Parse(c.line), FailsWith(ErrorCode::kConfig, std::string(c.part)))
        << c.line;
  }
  EXPECT_THAT(UsageRule::Parse(std::string(5000, 'a')), FailsWith(ErrorCode::kConfig, "too long"));
  std::string many = "ls";
  for (int i = 0; i < 300; ++i) many += " [-a]";
  EXPECT_THAT(UsageRule::Parse(many), FailsWith(ErrorCode::kConfig, "too many"));
}

// A matcher that tries everything: slow, and simple enough to be seen to be right.
struct Reference {
  struct Option {
    std::string name;
    char kind;  // 0, 'p', 'w', 'i'
  };
  struct Place {
    char kind;
    bool optional, repeats;
  };
  std::vector<Option> options;
  std::vector<Place> places;

  static bool Is(char kind, const std::string& text) {
    if (kind == 'w') return text.empty() || text[0] != '-';
    if (kind == 'p') return !text.empty() && text[0] != '-' && Inside(text);
    std::size_t i = !text.empty() && text[0] == '+' ? 1 : 0;
    if (i == text.size()) return false;
    for (; i < text.size(); ++i) {
      if (text[i] < '0' || text[i] > '9') return false;
    }
    return true;
  }

  bool Operands(const Argv& given, std::size_t i, std::size_t k) const {
    if (k == places.size()) return i == given.size();
    if (places[k].optional && Operands(given, i, k + 1)) return true;
    if (i == given.size() || !Is(places[k].kind, given[i])) return false;
    if (Operands(given, i + 1, k + 1)) return true;
    if (!places[k].repeats) return false;
    // The next word may fill the same place again.
    for (std::size_t end = i + 1; end < given.size() && Is(places[k].kind, given[end]); ++end) {
      if (Operands(given, end + 1, k + 1)) return true;
    }
    return false;
  }

  // `letters`: what is left of a bundle.
  bool Bundle(const Argv& argv, std::size_t i, const std::string& letters,
              const Argv& given) const {
    if (letters.empty()) return Rest(argv, i, given);
    for (const Option& option : options) {
      if (option.name != std::string{'-', letters[0]}) continue;
      const std::string rest = letters.substr(1);
      if (option.kind == 0 && Bundle(argv, i, rest, given)) return true;
      if (option.kind != 0 && !rest.empty() && rest[0] != '-' && Is(option.kind, rest) &&
          Rest(argv, i, given)) {
        return true;
      }
      if (option.kind != 0 && rest.empty() && i < argv.size() && argv[i][0] != '-' &&
          Is(option.kind, argv[i]) && Rest(argv, i + 1, given)) {
        return true;
      }
    }
    return false;
  }

  bool Rest(const Argv& argv, std::size_t i, Argv given) const {
    if (i == argv.size()) return Operands(given, 0, 0);
    const std::string& word = argv[i];
    if (word == "--") {
      given.insert(given.end(), argv.begin() + static_cast<std::ptrdiff_t>(i) + 1, argv.end());
      return !places.empty() && Operands(given, 0, 0);
    }
    if (word[0] != '-') {
      given.push_back(word);
      return Rest(argv, i + 1, given);
    }
    for (const Option& option : options) {
      if (option.kind == 0 && option.name == word && Rest(argv, i + 1, given)) return true;
      if (option.kind == 0) continue;
      if (option.name == word && i + 1 < argv.size() && argv[i + 1][0] != '-' &&
          Is(option.kind, argv[i + 1]) && Rest(argv, i + 2, given)) {
        return true;
      }
      const std::string with = option.name + "=";
      if (with.starts_with("--") && word.starts_with(with) &&
          Is(option.kind, word.substr(with.size())) && Rest(argv, i + 1, given)) {
        return true;
      }
    }
    return word.size() > 1 && word[1] != '-' && Bundle(argv, i + 1, word.substr(1), given);
  }
};

std::string KindText(char kind) {
  return kind == 'p' ? "<path>" : kind == 'w' ? "<word>" : "<int>";
}

Reference RandomReference(Random& random, std::string* line) {
  Reference reference;
  *line = "x";
  const Reference::Option pool[] = {{"-a", 0},        {"-b", 0},      {"-n", 'i'},
                                    {"-w", 'w'},      {"-name", 'w'}, {"--all", 0},
                                    {"--since", 'w'}, {"--file", 'p'}};
  for (const Reference::Option& option : pool) {
    if (random.Below(2) == 0) continue;
    reference.options.push_back(option);
    const char* glue = option.name.starts_with("--") && random.Below(2) ? "=" : " ";
    *line += " [" + option.name + (option.kind ? glue + KindText(option.kind) : "") + "]";
  }
  for (std::uint64_t count = random.Below(4); reference.places.size() < count;) {
    const Reference::Place place{"pwi"[random.Below(3)], random.Below(2) == 0,
                                 random.Below(2) == 0};
    reference.places.push_back(place);
    const std::string text = KindText(place.kind) + (place.repeats ? "..." : "");
    *line += place.optional ? " [" + text + "]" : " " + text;
  }
  return reference;
}

constexpr const char* kPieces[] = {
    "-a",    "-b",      "-ab",       "-n",     "-n2",      "-an3",        "-w", "-wx",  "-name",
    "--all", "--since", "--since=x", "--file", "--file=a", "--file=../a", "--", "2",    "+3",
    "a",     "b/c",     "../up",     "/abs",   "-c",       "--since=-x",  "-",  "--al", "-5"};

TEST(UsageRuleTest, AgreesWithAMatcherThatTriesEverything) {  // CON-34
  Random random(/*seed=*/34);
  int admitted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string line;
    const Reference reference = RandomReference(random, &line);
    const auto rule = UsageRule::Parse(line);
    ASSERT_THAT(rule, Succeeds()) << line;
    for (int i = 0; i < 20; ++i) {
      Argv argv = {"x"};
      for (std::uint64_t count = random.Below(6) + 1; argv.size() < count;) {
        argv.emplace_back(kPieces[random.Below(std::size(kPieces))]);
      }
      const bool expected = reference.Rest(argv, 1, {});
      admitted += expected;
      ASSERT_EQ(rule->Admits(argv, Inside), expected) << line << " | " << Join(argv, " ");
    }
  }
  EXPECT_GT(admitted, 3000);  // else the agreement would say little
}

TEST(UsageRuleTest, NoRuleAdmitsAnUnknownOptionBeforeTheDashes) {  // CON-34
  Random random(/*seed=*/35);
  for (int round = 0; round < 3000; ++round) {
    std::string line;
    RandomReference(random, &line);
    const auto rule = UsageRule::Parse(line);
    ASSERT_THAT(rule, Succeeds());
    Argv argv = {"x"};
    for (std::uint64_t count = random.Below(5) + 1; argv.size() < count;) {
      argv.emplace_back(kPieces[random.Below(std::size(kPieces))]);
    }
    // No line of RandomReference has these.
    const char* const strangers[] = {"-z", "--delete", "-exec", "--output=x", "-az", "-"};
    std::size_t at = 1;
    while (at < argv.size() && argv[at] != "--" && random.Below(3) != 0) ++at;
    argv.insert(argv.begin() + static_cast<std::ptrdiff_t>(at),
                strangers[random.Below(std::size(strangers))]);
    EXPECT_FALSE(rule->Admits(argv, Inside)) << line << " | " << Join(argv, " ");
  }
}

TEST(UsageRuleTest, AnyBytesAreReadWithoutHarm) {
  Random random(/*seed=*/36);
  constexpr std::string_view kAlphabet = "ab <>[]|=-.*?\\\n\xff";
  for (int round = 0; round < 20000; ++round) {
    std::string line = "x";
    for (std::uint64_t count = random.Below(24); line.size() < count;) {
      line += kAlphabet[random.Below(kAlphabet.size())];
    }
    const auto rule = UsageRule::Parse(line);
    if (rule) (void)rule->Admits({"x", "-a", "--b", "c"}, Inside);
  }
}

}  // namespace

namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

TEST(LexCommandTest, WordsQuotesAndBackslashes) {  // CON-33
  const struct {
    std::string_view text;
    Argv words;
  } cases[] = {
      {"git log -n 2", {"git", "log", "-n", "2"}},
      {"  a\t b  ", {"a", "b"}},
      {"'two words' \"and two\"", {"two words", "and two"}},
      {"a'b'\"c\"d", {"abcd"}},
      {"'' \"\"", {"", ""}},
      {"'$x;|&' '`*?[~#!{}()<>'", {"$x;|&", "`*?[~#!{}()<>"}},
      {"\";|&*?[~#!{}()<>\"", {";|&*?[~#!{}()<>"}},
      {"\\; \\$ \\ \\'", {";", "$", " '"}},
      {R"("a\"b\\c\d")", {R"(a"b\c\d)"}},
      {R"("\$ \`")", {"$ `"}},
      {"'a\nb'", {"a\nb"}},
      {R"('a\')", {"a\\"}},
      {"]=%^,:@+-_./", {"]=%^,:@+-_./"}},
      {"caf\xc3\xa9", {"caf\xc3\xa9"}},
  };
  for (const auto& c : cases) {
    const auto words = LexCommand(c.text);
    ASSERT_THAT(words, Succeeds()) << c.text;
    EXPECT_EQ(*words, c.words) << c.text;
  }
}

TEST(LexCommandTest, EveryUnquotedOperatorIsRefusedByName) {  // CON-33, A7, D8
  for (const char c : std::string_view(";&|<>()${}*?[~#!`")) {
    for (const std::string& text : {std::string("cat x") + c, std::string("cat ") + c + " y",
                                    std::string("cat 'x'") + c + "rm"}) {
      EXPECT_THAT(LexCommand(text), FailsWith(ErrorCode::kRefused, std::string("`") + c + "`"))
          << text;
    }
  }
  EXPECT_THAT(LexCommand("cat x; rm y"), FailsWith(ErrorCode::kRefused, "`;` at byte 5"));
  EXPECT_THAT(LexCommand("cat $(id)"), FailsWith(ErrorCode::kRefused, "`$` at byte 4"));
  EXPECT_THAT(LexCommand("cat \"$(id)\""), FailsWith(ErrorCode::kRefused, "`$`"));
  EXPECT_THAT(LexCommand("cat \"`id`\""), FailsWith(ErrorCode::kRefused, "```"));
  for (const char* text : {"cat x\nrm y", "cat x\rrm y", "cat \\\nrm"}) {
    EXPECT_THAT(LexCommand(text), FailsWith(ErrorCode::kRefused, "a line end")) << text;
  }
}

TEST(LexCommandTest, WhatIsNoCommandIsRefused) {  // CON-33
  EXPECT_THAT(LexCommand(""), FailsWith(ErrorCode::kRefused, "empty"));
  EXPECT_THAT(LexCommand(" \t"), FailsWith(ErrorCode::kRefused, "empty"));
  EXPECT_THAT(LexCommand("a 'b"), FailsWith(ErrorCode::kRefused, "the quote ' at byte 2"));
  EXPECT_THAT(LexCommand("a \"b\\"), FailsWith(ErrorCode::kRefused, "never closes"));
  EXPECT_THAT(LexCommand("a\\"), FailsWith(ErrorCode::kRefused, "ends in a backslash"));
  EXPECT_THAT(LexCommand({"a\0b", 3}), FailsWith(ErrorCode::kRefused, "NUL"));
  EXPECT_THAT(LexCommand("a\xff"), FailsWith(ErrorCode::kRefused, "UTF-8"));
  EXPECT_THAT(LexCommand(std::string(kMaxCommandBytes + 1, 'a')),
              FailsWith(ErrorCode::kRefused, "at most"));
}

TEST(LexCommandTest, WordsInSingleQuotesComeBackAsTheyWere) {
  Random random(/*seed=*/33);
  for (int round = 0; round < 2000; ++round) {
    Argv words;
    std::string line;
    for (std::uint64_t count = random.Below(4) + 1; words.size() < count;) {
      std::string word = random.Utf8(/*max_bytes=*/20);
      std::erase(word, '\'');
      std::erase(word, '\0');
      line += "'" + word + "' ";
      words.push_back(std::move(word));
    }
    const auto lexed = LexCommand(line);
    ASSERT_THAT(lexed, Succeeds()) << line;
    EXPECT_EQ(*lexed, words);
  }
}

}  // namespace

}  // namespace dossier::sandbox
