#include "sandbox/session/session.h"

#include <gtest/gtest.h>

#include "testing/session_fixture.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SessionTest : public SandboxTest {};

TEST_F(SessionTest, TheExampleInTheHeaderWorks) {
  const std::string text(38, 'x');
  const UniqueFd fd = MakeContextFd(text);
  const ContextText context{.name = "a.txt", .fd = fd.get(), .bytes = 38, .characters = 38};
  auto session = Open({.contexts = {context}});
  ASSERT_TRUE(session);
  EXPECT_EQ(Output(*session, "print(len(context))"), "38\n");
}

TEST_F(SessionTest, StateLivesFromBlockToBlock) {
  auto session = Open();
  ASSERT_TRUE(session);
  EXPECT_EQ(Output(*session, "x = 20\nprint(x + 1)"), "21\n");
  EXPECT_EQ(Output(*session, "def f():\n    return x\nx = 5\nprint(f())"), "5\n");
  const BlockResult failed = Run(*session, "y = 1\nraise KeyError('sise')");
  EXPECT_EQ(failed.status, BlockStatus::kError);
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->type, "KeyError");
  EXPECT_EQ(failed.error->line, 2);
  EXPECT_EQ(Output(*session, "print(y)"), "1\n");
}

TEST_F(SessionTest, CheckCompilesAndRunsNothing) {
  auto session = Open();
  ASSERT_TRUE(session);
  const auto good = session->Check("x = 1");
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_TRUE(good->ok);
  EXPECT_TRUE(good->has_effect);
  const auto bad = session->Check("x = (1,\n");
  ASSERT_TRUE(bad);
  EXPECT_FALSE(bad->ok);
  EXPECT_TRUE(bad->incomplete);
  EXPECT_EQ(bad->error.type, "SyntaxError");
  EXPECT_FALSE(session->Get("x", 100));
}

TEST_F(SessionTest, GetReturnsTheTextOfAVariable) {
  auto session = Open();
  ASSERT_TRUE(session);
  Run(*session, "total = 'naïve café' * 2");
  EXPECT_EQ(session->Get("total", 100).value_or(""), "naïve cafénaïve café");
  EXPECT_EQ(session->Get("total", 3).value_or(""), "na");  // never half a code point
  EXPECT_THAT(session->Get("totl", 100), FailsWith(ErrorCode::kNotFound, "total"));
}

TEST_F(SessionTest, OddCodeIsRefusedOrRunsAsSaid) {  // section 6
  auto session = Open();
  ASSERT_TRUE(session);
  EXPECT_EQ(Run(*session, "").status, BlockStatus::kOk);
  const BlockResult invalid = Run(*session, "x = 1 # \xff");
  EXPECT_EQ(invalid.status, BlockStatus::kNotRun);
  EXPECT_THAT(invalid.refused, HasSubstr("byte 8"));
  const BlockResult nul = Run(*session, std::string_view("x = 1\0", 6));
  EXPECT_EQ(nul.status, BlockStatus::kError);
  EXPECT_THAT(nul.error->type, HasSubstr("Error"));
  const std::string large = "x = 7\n#" + std::string(10u << 20, 'a') + "\nprint(x)";
  EXPECT_EQ(Output(*session, large), "7\n");
}

TEST_F(SessionTest, TheReportListsTheLayers) {
  auto session = Open();
  ASSERT_TRUE(session);
  EXPECT_TRUE(session->report().Applied("seccomp"));
  EXPECT_TRUE(session->report().Applied("watchdog"));
  EXPECT_THAT(session->report().worker, HasSubstr("python 3."));
}

TEST_F(SessionTest, AMissingWorkerIsNamed) {  // section 6
  EXPECT_THAT(Pool::Make({.worker_path = "/nonexistent/worker"}),
              FailsWith(ErrorCode::kUnavailable, "/nonexistent/worker"));
}

TEST_F(SessionTest, AnotherProgramIsNoWorker) {  // section 6
  auto pool = Pool::Make({.worker_path = "/bin/true"});
  ASSERT_TRUE(pool);
  EXPECT_THAT((*pool)->Open({}), FailsWith(ErrorCode::kUnavailable, "/bin/true"));
}

TEST_F(SessionTest, ContextsAreExact) {  // SBX-30, SBX-32, SBX-35, SBX-A9
  const std::string cases[] = {"",
                               "x",
                               std::string(4095, 'a'),
                               std::string(4096, 'b'),
                               std::string(4097, 'c'),
                               "a\r\nb\r\n",
                               std::string("nul\0in", 6),
                               "Grüße, 東京 🎉"};
  for (const std::string& text : cases) {
    const UniqueFd fd = MakeContextFd(text);
    auto session =
        Open({.contexts = {
                  {.name = "c", .fd = fd.get(), .bytes = text.size(), .characters = text.size()}}});
    ASSERT_TRUE(session);
    const std::string code =
        "import hashlib, _dossier\n"
        "v = _dossier.context_view(0)\n"
        "print(len(v), hashlib.sha256(v).hexdigest() == "
        "hashlib.sha256(context.encode()).hexdigest(), len(context.encode()))";
    EXPECT_EQ(Output(*session, code), fmt::format("{} True {}\n", text.size(), text.size()));
  }
}

TEST_F(SessionTest, ManyContextsTravelAsDescriptors) {  // SBX-30
  std::vector<UniqueFd> fds;
  SessionSpec spec;
  for (int i = 0; i < 150; ++i) {
    const std::string text = fmt::format("text {}", i);
    fds.push_back(MakeContextFd(text));
    spec.contexts.push_back({.name = fmt::format("{:03}.txt", i),
                             .fd = fds.back().get(),
                             .bytes = text.size(),
                             .characters = text.size()});
  }
  auto session = Open(spec);
  ASSERT_TRUE(session);
  fds.clear();  // the session keeps its own
  EXPECT_EQ(Output(*session,
                   "import _dossier\nprint(_dossier.context_count(), "
                   "bytes(_dossier.context_view(149)))"),
            "150 b'text 149'\n");
}

TEST_F(SessionTest, LaterSessionsShareTheTextOfALargeContext) {  // SBX-2, SBX-32, SBX-33
  struct Case {
    std::string_view piece;
    std::uint64_t characters;
  };
  constexpr Case kCases[] = {{"ascii 123456789\r\n", 17},
                             {"caf\u00e9 cr\u00e8me \u00fc", 12},
                             {"\u6771\u4eac and text", 11},
                             {"\U0001F389 party \u0416", 9}};
  for (const Case& c : kCases) {
    std::string text;
    std::uint64_t pieces = 0;
    for (; text.size() < (5u << 20); ++pieces) text += c.piece;
    const UniqueFd fd = MakeContextFd(text);
    SessionSpec spec;
    spec.contexts = {
        {.name = "c", .fd = fd.get(), .bytes = text.size(), .characters = pieces * c.characters}};
    for (int round = 0; round < 3; ++round) {  // alone, then from the zygote that holds it
      auto session = Open(spec);
      ASSERT_TRUE(session);
      EXPECT_EQ(Output(*session,
                       "import _dossier, hashlib\n"
                       "same = context.encode() == bytes(_dossier.context_view(0))\n"
                       "print(len(context), same, context == "
                       "str(_dossier.context_view(0), 'utf-8'))"),
                fmt::format("{} True True\n", pieces * c.characters));
    }
  }
}

TEST(ResolveTextTest, JoinsStringsBlobsAndSlices) {
  const std::vector<std::string_view> contexts = {"0123456789"};
  const auto parts = ParseJson(R"(["a",{"blob":[1,2]},{"ctx":0,"at":8,"len":2},"z"])");
  EXPECT_EQ(ResolveText(*parts, "xyz!", contexts).value_or(""), "ayz89z");
  EXPECT_EQ(ResolveText(Json("only"), "", {}).value_or(""), "only");
}

TEST(ResolveTextTest, EveryOffsetIsChecked) {  // SBX-93, SBX-E10
  const std::vector<std::string_view> contexts = {"0123456789", "é"};
  const char* cases[] = {R"([{"blob":[0,5]}])",
                         R"([{"blob":[5,0]}])",
                         R"([{"blob":[-1,1]}])",
                         R"([{"blob":[1.5,1]}])",
                         R"([{"blob":[1]}])",
                         R"([{"blob":[0,1],"x":1}])",
                         R"([{"blob":[18446744073709551615,2]}])",
                         R"([{"blob":[2,18446744073709551615]}])",
                         R"([{"ctx":2,"at":0,"len":1}])",
                         R"([{"ctx":0,"at":10,"len":1}])",
                         R"([{"ctx":0,"at":11,"len":0}])",
                         R"([{"ctx":0,"at":0}])",
                         R"([{"ctx":1,"at":1,"len":1}])",  // half a character
                         R"([7])",
                         R"([null])",
                         R"([["a"]])",
                         R"({"other":1})"};
  for (const char* text : cases) {
    EXPECT_THAT(ResolveText(*ParseJson(text), "xyz!", contexts),
                FailsWith(ErrorCode::kInvalidArgument, ""))
        << text;
  }
}

TEST_F(SessionTest, AResetStartsOverButForWhatIsKept) {  // spec 5: reset
  auto session = Open({.seed = 7});
  ASSERT_TRUE(session);
  const std::string first = Output(*session,
                                   "import random\nkept, lost = 1, 2\n"
                                   "def f(): return kept\nprint(random.random())");
  ASSERT_TRUE(session->Reset({"kept"}));
  EXPECT_EQ(Output(*session, "import random\nprint(random.random())"), first);
  EXPECT_EQ(Output(*session, "print(kept, 'lost' in globals(), 'f' in globals())"),
            "1 False False\n");
  // A replacement goes through the same steps.
  EXPECT_EQ(Run(*session, "import os\nos._exit(1)").status, BlockStatus::kDied);
  EXPECT_EQ(Output(*session, "print(kept, 'lost' in globals())"), "1 False\n");
  ASSERT_TRUE(session->Reset({}));
  EXPECT_EQ(Output(*session, "print('kept' in globals(), answer)"),
            "False {'content': '', 'ready': False}\n");
}

}  // namespace
}  // namespace dossier::sandbox
