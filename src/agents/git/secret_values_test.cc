#include "agents/git/secret_values.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace dossier::agents {
namespace {

TEST(SecretValuesTest, EveryValueBecomesItsName) {  // REP-35, A31
  const SecretValues secrets({{"KEY", "abcd"}, {"LONG", "abcdef"}, {"FLAG", "1"}, {"NONE", ""}});
  struct Case {
    std::string_view text, hidden;
  };
  constexpr Case kCases[] = {
      {"", ""},
      {"nothing 1", "nothing 1"},
      {"abcd", "[redacted:KEY]"},
      {"abcdef", "[redacted:LONG]"},
      {"xabcdabcd.", "x[redacted:KEY][redacted:KEY]."},
      {"abcabcd", "abc[redacted:KEY]"},
      {"abc", "abc"},
  };
  for (const Case& c : kCases) EXPECT_EQ(secrets.Hide(c.text), c.hidden) << c.text;
}

TEST(SecretFilterTest, PiecesOfAnyLengthGiveWhatTheWholeGives) {  // REP-35, A31
  const SecretValues secrets({{"A", "aaab"}, {"B", "abab"}, {"C", "bbbbbb"}});
  Random random(/*seed=*/31);
  for (int round = 0; round < 500; ++round) {
    std::string text, out;
    SecretFilter filter(secrets);
    for (int piece = 0; piece < 12; ++piece) {
      std::string bytes;
      for (std::uint64_t i = random.Below(6); i > 0; --i) bytes += random.Below(2) ? 'a' : 'b';
      text += bytes;
      out += filter.Add(bytes);
    }
    out += filter.Finish();
    EXPECT_EQ(out, secrets.Hide(text));
    for (const char* value : {"aaab", "abab", "bbbbbb"}) {
      EXPECT_EQ(out.find(value), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace dossier::agents
