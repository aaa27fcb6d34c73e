#include "research/exec/command_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace dossier::research {
namespace {

using ::testing::HasSubstr;
using Root = SandboxFacts::Root;

std::string Words(std::string_view line) {
  std::string text;
  for (const ShellCommand& command : ShellCommands(line)) {
    for (const ShellWord& word : command.words) text += word.text + "_";
    text += "|";
  }
  return text;
}

TEST(ShellWordsTest, SimpleCommandsAreFound) {
  const struct {
    std::string_view line, words;
  } cases[] = {
      {"", ""},
      {"  # only a comment", ""},
      {"make -j2", "make_-j2_|"},
      {"cd x && sudo make > log 2>&1; echo 'a b'", "cd_x_|sudo_make_|echo_a b_|"},
      {"A=1 B='x y' ./run 'it''s' \"two words\" a\\ b", "./run_its_two words_a b_|"},
      {"if test -f x; then docker run y; fi", "test_-f_x_|docker_run_y_|"},
      {"echo $(docker ps) `id -u` \"$(uname)\"", "docker_ps_|id_-u_|uname_|echo____|"},
      {"(cd a; ls) | wc", "cd_a_|ls_|wc_|"},
      {"cat > f <<'EOF'\nsudo apt install x\nEOF\nls", "cat_|ls_|"},
      {"cat <<-E\n\tdocker\n\tE\nls", "cat_|ls_|"},
      {"cat <<< docker; ls", "cat_|ls_|"},
      {"a \\\n  b\nc", "a_b_|c_|"},
      {"echo a#b", "echo_a#b_|"},
      {"a &> f; b", "a_|b_|"},
      {"'unclosed quote", "unclosed quote_|"},
      {") ls", "ls_|"},
  };
  for (const auto& c : cases) EXPECT_EQ(Words(c.line), c.words) << c.line;
}

TEST(ShellWordsTest, AnyBytesGiveAList) {
  Random random(/*seed=*/3);
  constexpr std::string_view kBytes = "ab '\"\\$()`;&|<>\n#{}=-\t";
  for (int round = 0; round < 3000; ++round) {
    std::string line;
    for (int i = 0; i < 30; ++i) line.push_back(kBytes[random.Below(kBytes.size())]);
    for (const ShellCommand& command : ShellCommands(line)) {
      ASSERT_FALSE(command.words.empty()) << line;
      for (const ShellWord& word : command.words) ASSERT_LE(word.end, line.size()) << line;
    }
  }
  EXPECT_TRUE(ShellCommands(std::string(100'000, '(')).empty());
}

TEST(CommandRulesTest, ContainerEnginesAreRefused) {  // RSP-24, RSP-T8
  for (const std::string_view line :
       {"apptainer exec x.sif make", "singularity shell x", "docker run x", "/usr/bin/podman run x",
        "enroot start x", "cd a && docker build .", "FOO=1 docker ps", "env A=1 docker ps",
        "timeout 10s docker ps", "bash -lc 'docker run x'", "echo $(podman ps)",
        "time nice -n 5 docker ps", "sudo docker ps", "eval 'docker ps'"}) {
    const RuledCommand ruled = ApplyCommandRules({.command = std::string(line)}, Root::kYes);
    ASSERT_TRUE(ruled.refusal) << line;
    EXPECT_EQ(ruled.refusal->status, 126);
    EXPECT_THAT(ruled.refusal->refused, HasSubstr("container")) << line;
    EXPECT_THAT(ruled.refusal->err, HasSubstr("container")) << line;
  }
}

TEST(CommandRulesTest, RootIsRefusedWhereThereIsNone) {  // RSP-24, RSP-T8
  for (const std::string_view line :
       {"sudo make install", "apt-get install -y libfftw3-dev", "cd x; apt update", "dnf install x",
        "dpkg -i x.deb", "apk add x", "sh -c \"sudo true\""}) {
    const RuledCommand ruled = ApplyCommandRules({.command = std::string(line)}, Root::kNo);
    ASSERT_TRUE(ruled.refusal) << line;
    EXPECT_THAT(ruled.refusal->refused, HasSubstr("/workspace/.pydeps"));
    EXPECT_THAT(ruled.refusal->refused, HasSubstr("from source"));
  }
}

TEST(CommandRulesTest, OtherCommandsAreLeftAlone) {  // RSP-24
  for (const std::string_view line :
       {"make -j2", "pip install docker", "echo sudo apt docker", "command -v docker", "dpkg -l",
        "which apptainer", "cat > README <<EOF\nsudo apt install x\nEOF", "git clone docker",
        "grep 'a; docker run' log", "./docker-like"}) {
    const RuledCommand ruled = ApplyCommandRules({.command = std::string(line)}, Root::kNo);
    EXPECT_FALSE(ruled.refusal) << line;
    EXPECT_EQ(ruled.command.command, line);
    EXPECT_EQ(ruled.note, "");
  }
}

TEST(CommandRulesTest, SudoIsDroppedWithANoteWhereCommandsAreRoot) {  // RSP-24, RSP-T8
  const struct {
    std::string_view line, run;
  } cases[] = {
      {"sudo apt-get update", "apt-get update"},
      {"sudo -E -u root make", "make"},
      {"a && sudo b && c", "a && b && c"},
      {"sudo", ""},
      {"sudo A=1 make", "make"},
  };
  for (const auto& c : cases) {
    const RuledCommand ruled = ApplyCommandRules({.command = std::string(c.line)}, Root::kYes);
    EXPECT_FALSE(ruled.refusal) << c.line;
    EXPECT_EQ(ruled.command.command, c.run);
    EXPECT_THAT(ruled.note, HasSubstr("sudo was dropped"));
  }
  const RuledCommand argv = ApplyCommandRules({.argv = {"sudo", "-n", "make", "x"}}, Root::kYes);
  EXPECT_THAT(argv.command.argv, ::testing::ElementsAre("make", "x"));
}

}  // namespace
}  // namespace dossier::research
