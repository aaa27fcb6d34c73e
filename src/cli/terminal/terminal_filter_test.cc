#include "cli/terminal/terminal_filter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <sstream>

#include "base/files/file.h"

namespace dossier::cli {
namespace {

class TerminalFilterTest : public ::testing::Test {
 protected:
  TerminalFilterTest() : main_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    EXPECT_EQ(grantpt(main_.get()), 0);
    EXPECT_EQ(unlockpt(main_.get()), 0);
    terminal_ = UniqueFd(open(ptsname(main_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    pipe_ = UniqueFd(open("/dev/null", O_WRONLY | O_CLOEXEC));
  }

  UniqueFd main_, terminal_, pipe_;
  std::stringbuf shown_;
};

TEST_F(TerminalFilterTest, OnATerminalOnlyTheProgramActs) {  // FLT-87
  TerminalFilter filter(&shown_, terminal_.get());
  std::ostream out(&filter);
  out << "a\x1b]0;t\x07" << Own("\x1b[1m") << "b\n\tc\x7f" << '\x1b' << "\u202e\u009b"
      << Own("\x1b[0m");
  EXPECT_EQ(shown_.str(), "a^[]0;t^G\x1b[1mb\n\tc\\u{7F}^[\\u{202E}\\u{9B}\x1b[0m");
}

TEST_F(TerminalFilterTest, ACodePointMayComeInPieces) {  // FLT-87
  for (const std::string text : {"東京 naïve 🙂", "\u202e\u009b"}) {
    std::stringbuf whole, pieces;
    {
      TerminalFilter filter(&whole, terminal_.get());
      std::ostream(&filter) << text;
    }
    {
      TerminalFilter filter(&pieces, terminal_.get());
      std::ostream out(&filter);
      for (const char c : text) out << c << std::flush;
    }
    EXPECT_EQ(pieces.str(), whole.str());
  }
  {
    TerminalFilter filter(&shown_, terminal_.get());
    std::ostream(&filter) << "x\xe6\x9d";  // never whole
  }
  EXPECT_EQ(shown_.str(), "x\uFFFD");
}

TEST_F(TerminalFilterTest, ElsewhereEveryBytePasses) {  // FLT-87
  TerminalFilter filter(&shown_, pipe_.get());
  std::ostream out(&filter);
  const std::string bytes("a\x1b]0;t\x07\0\xff\xe6\r\n", 13);
  out << bytes << Own("\x1b[1m");
  EXPECT_EQ(shown_.str(), bytes + "\x1b[1m");
}

}  // namespace
}  // namespace dossier::cli
