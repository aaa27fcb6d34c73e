#include "agents/policy/approval.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace dossier::agents {
namespace {

using Kind = Verdict::Kind;

constexpr std::string_view kPatch =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST(ApprovalKeyTest, ATokenIsTheHmacThatTheSpecificationNames) {  // REP-41
  // Computed with Python's hmac module.
  const ApprovalKey key(std::string(32, 'k'));
  const std::string token = key.TokenFor({"fact-001", 2, kPatch});
  EXPECT_EQ(token, "APPROVED-f4cb172743f30afe348d8855b625e5dd");
}

TEST(ApprovalKeyTest, EveryOtherSubjectAndKeyHasAnotherToken) {  // REP-41, A17
  const ApprovalKey key, other;
  const std::string token = key.TokenFor({"fact-001", 1, kPatch});
  EXPECT_EQ(token, key.TokenFor({"fact-001", 1, kPatch}));
  EXPECT_NE(token, key.TokenFor({"fact-002", 1, kPatch}));
  EXPECT_NE(token, key.TokenFor({"fact-001", 2, kPatch}));
  EXPECT_NE(token, key.TokenFor({"fact-001", 1, "00"}));
  EXPECT_NE(token, other.TokenFor({"fact-001", 1, kPatch}));
}

constexpr std::string_view kToken = "APPROVED-0123456789abcdef0123456789abcdef";
constexpr std::string_view kForeign = "APPROVED-ffffffffffffffffffffffffffffffff";

struct Case {
  std::string name;
  ReviewEvidence evidence;
  Kind kind;
  std::string feedback = {};
};

std::vector<Case> Cases() {
  const std::string token(kToken), foreign(kForeign);
  return {
      {"nothing", {}, Kind::kNone},
      {"a file approves nothing",  // FLT-110
       {.agent_files = {"meta.json", token}},
       Kind::kUnbound},
      {"the token alone on a line", {.out = "Fine.\n" + token + "\n"}, Kind::kApproved},
      {"blanks around it", {.out = "  " + token + " \r\n"}, Kind::kApproved},
      {"the token inside a line", {.out = "I give " + token + "\n"}, Kind::kNone},
      {"the token with more behind it", {.out = token + "0\n"}, Kind::kNone},
      {"an empty APPROVED", {.agent_files = {"APPROVED"}}, Kind::kUnbound},
      {"the word APPROVED", {.out = "APPROVED\n"}, Kind::kUnbound},
      {"another token as a file", {.agent_files = {foreign}}, Kind::kMismatch},
      {"another token on a line", {.out = foreign}, Kind::kMismatch},
      {"another token beside the word",
       {.agent_files = {"APPROVED"}, .out = foreign},
       Kind::kMismatch},
      {"the right token among others",
       {.agent_files = {foreign, "APPROVED"}, .out = token},
       Kind::kApproved},
      {"bold", {.out = "**" + token + "**\n"}, Kind::kApproved},  // FLT-115
      {"backticks", {.out = "`" + token + "`."}, Kind::kApproved},
      {"a heading", {.out = "## " + token + "\n"}, Kind::kApproved},
      {"a quotation", {.out = "You said:\n > " + token + "\nI will not."}, Kind::kNone},
      {"colours", {.out = "\x1b[1;32m" + token + "\x1b[0m\n"}, Kind::kApproved},
      {"a title of a terminal", {.out = "\x1b]0;x\a" + token + "\n"}, Kind::kApproved},
      {"JSON", {.out = R"({"result": "Fine.\n)" + token + "\"}"}, Kind::kApproved},
      {"lines of JSON",
       {.out = "{\"type\":\"start\"}\n{\"item\":{\"text\":\"" + token + "\"}}\nbye\n"},
       Kind::kApproved},
      {"a refusal in bold", {.out = token + "\n**NEEDS_CHANGES**\n"}, Kind::kNeedsChanges},
      {"a refusal in JSON", {.out = token + "\n{\"verdict\": \"REJECTED\"}\n"}, Kind::kRejected},
      {"a refusal in colours beats the token",
       {.out = token + "\n\x1b[31mREJECTED\x1b[0m\n"},
       Kind::kRejected},
      {"an echo of the prompt",  // FLT-114
       {.prompt = "Approval token: " + token, .out = "Approval token:\n" + token + "\n"},
       Kind::kNone},
      {"a wrapped echo in JSON",
       {.prompt = "token: " + token + "\nmore", .out = R"({"user": "token:\n)" + token + "\"}"},
       Kind::kNone},
      {"an approval behind an echo",
       {.prompt = "token: " + token, .out = "token:\n" + token + "\n\nFine:\n" + token},
       Kind::kApproved},
      {"a refusal beats the token", {.out = "NEEDS_CHANGES\n" + token}, Kind::kNeedsChanges},
      {"a rejection beats a refusal",
       {.out = "NEEDS_CHANGES\nREJECTED\n" + token},
       Kind::kRejected},
      {"the word inside a line is talk",
       {.out = "It is not REJECTED by me.\n" + token},
       Kind::kApproved},
      {"review.txt refuses",
       {.review_text = "- VIOLATION: no test\n", .out = token},
       Kind::kNeedsChanges,
       "- VIOLATION: no test"},
      {"an empty review.txt does not", {.review_text = " \n", .out = token}, Kind::kApproved},
      {"review.txt rejects",
       {.review_text = "SCOPE: all of it\nREJECTED\n"},
       Kind::kRejected,
       "SCOPE: all of it\nREJECTED"},
      {"bullets of stdout are the feedback",
       {.out = "hm\n - FIX: name it\nVIOLATION: x\nNEEDS_CHANGES\n"},
       Kind::kNeedsChanges,
       "- FIX: name it\nVIOLATION: x"},
      {"output that was not kept may refuse", {.out = token, .out_dropped = 1}, Kind::kNone},
      {"a refusal that was kept counts",
       {.out = "NEEDS_CHANGES\n", .out_dropped = 1},
       Kind::kNeedsChanges},
  };
}

TEST(ReadVerdictTest, WeighsEveryWayToAnswer) {  // REP-41, A17
  for (Case& c : Cases()) {
    c.evidence.token = kToken;
    c.evidence.exit_code = 0;
    const Verdict verdict = ReadVerdict(c.evidence);
    EXPECT_EQ(VerdictName(verdict.kind), VerdictName(c.kind)) << c.name;
    EXPECT_EQ(verdict.feedback, c.feedback) << c.name;
    EXPECT_FALSE(verdict.reason.empty()) << c.name;
  }
}

TEST(ReadVerdictTest, ARefusalWithAReasonBeatsTheToken) {  // FLT-110
  const std::string token(kToken);
  for (const char* line :
       {"NEEDS_CHANGES: tests are missing", "Verdict: NEEDS_CHANGES", "NEEDS_CHANGES - tests",
        "**NEEDS_CHANGES**: tests", "- NEEDS_CHANGES: fix it", "2. NEEDS_CHANGES: fix it",
        "\xE2\x9D\x8C NEEDS_CHANGES", "NEEDS CHANGES", "NEEDS_CHANGES because of x", "rejected",
        "**Final verdict**: rejected.", "Rejected \xE2\x80\x94 it deletes data", "Verdict: no.",
        "Verdict: rejected because it deletes data", "NOT APPROVED", "> REJECTED: it deletes data", R"({"verdict": "no"})",
        R"({"approved": false})", R"({"decision": "reject", "why": "x"})",
        R"({"result": "NEEDS_CHANGES: no test\nmore"})"}) {
    for (const std::string& out : {line + ("\n" + token), token + "\n" + line + "\n"}) {
      const auto kind = ReadVerdict({.token = token, .exit_code = 0, .out = out}).kind;
      EXPECT_TRUE(kind == Kind::kNeedsChanges || kind == Kind::kRejected) << out;
    }
  }
  const std::string beside = R"({"verdict": "no", "token": ")" + token + "\"}";
  EXPECT_EQ(ReadVerdict({.token = token, .exit_code = 0, .out = beside}).kind,
            Kind::kNeedsChanges);
  for (const char* talk : {"Rejected input is tested.", "It is not REJECTED by me.",
                           "No line needs changes.", "Approved: nothing is missing",
                           "Approved: no further changes are needed", "Verdict: no objections",
                           "+    rejected |= word == x;", "rejected = 0", "rejected.push_back(row)",
                           "Rejected: 0 rows", "- `rejected`: rows that fail", R"("status": "rejected",)",
                           "REJECTED = 2", "Changes requested: none", "Needs changes: no",
                           R"({"approved": true, "needs_approval": false})"}) {
    EXPECT_EQ(ReadVerdict({.token = token, .exit_code = 0, .out = talk + ("\n" + token)}).kind,
              Kind::kApproved)
        << talk;
  }
}

TEST(ReadVerdictTest, AReviewerThatFailsApprovesNothing) {  // REP-41, A17
  for (Case& c : Cases()) {
    c.evidence.token = kToken;
    for (const std::optional<int> code : {std::optional<int>(1), std::optional<int>()}) {
      c.evidence.exit_code = code;
      EXPECT_EQ(ReadVerdict(c.evidence).kind, Kind::kNone) << c.name;
    }
  }
}

TEST(ReadVerdictTest, NoTextWithoutTheTokenApproves) {  // REP-41
  Random random(/*seed=*/41);
  constexpr std::string_view kWords[] = {"APPROVED", "APPROVED-",     "\n",   "REJECTED",
                                         kForeign,   "NEEDS_CHANGES", "0123", "approve",
                                         " ",        "FIX:"};
  for (int round = 0; round < 2000; ++round) {
    ReviewEvidence evidence{.token = std::string(kToken), .exit_code = 0};
    for (std::uint64_t i = random.Below(12); i > 0; --i) {
      evidence.out += kWords[random.Below(std::size(kWords))];
    }
    evidence.review_text = random.Utf8(/*max_bytes=*/8);
    EXPECT_NE(ReadVerdict(evidence).kind, Kind::kApproved) << evidence.out;
  }
}

TEST(CheckTokenLinesTest, ATokenAloneOnALineIsRefused) {  // FLT-114
  constexpr std::string_view kPlaceholder = "{approval_token}";
  for (const char* prompt :
       {"a\n{approval_token}\n", "a\n  **{approval_token}**", "a\n- `{approval_token}`",
        "a\n{\"a\": \"{approval_token}\"}\nend", "a\n[[\"x\\n{approval_token}\"]]",
        "a\n\x1b[1m{approval_token}\x1b[0m"}) {
    const Status checked = CheckTokenLines(prompt, kPlaceholder);
    ASSERT_FALSE(checked) << prompt;
    EXPECT_EQ(checked.error().code, ErrorCode::kConfig);
    EXPECT_NE(checked.error().message.find("line 2"), std::string::npos);
  }
  EXPECT_FALSE(CheckTokenLines("{\"a\":\n\"{approval_token}\"\n}", kPlaceholder));
  EXPECT_TRUE(CheckTokenLines("Approval token: {approval_token}\n", kPlaceholder));
}

}  // namespace
}  // namespace dossier::agents
