#include "ask/policy/gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ask/documents/document_words.h"
#include "ask/policy/evidence.h"

namespace dossier::ask {
namespace {

using Checked = ModelPolicy::Checked;

using ::testing::HasSubstr;

using Explored = GateSituation::Explored;
using LastChance = GateSituation::LastChance;
using Texts = std::vector<std::string>;

const Texts kNothing;

GateContext Context(Checked checked = Checked::kNumbers) {
  return {.checked = checked, .question = "Which one?", .context_chars = 10'000};
}

GateSituation After(const Texts& shown) {
  return {.explored = Explored::kYes, .shown = &shown, .unmatched = &kNothing};
}

std::string GateOf(const std::optional<Refusal>& refusal) {
  return refusal ? refusal->gate : "passed";
}

TEST(GatesTest, AnAnswerBeforeAnythingWasReadIsRefusedTwice) {  // REC-36, FLT-15
  Gates gates(Context());
  GateSituation situation = After(kNothing);
  situation.explored = Explored::kNo;
  EXPECT_EQ(GateOf(gates.Check("x", situation)), "unexplored");
  EXPECT_EQ(GateOf(gates.Check("x", situation)), "unexplored");
  EXPECT_EQ(GateOf(gates.Check("x", situation)), "passed");
  EXPECT_EQ(GateOf(gates.Doubt("x", situation)), "unexplored");
}

TEST(GatesTest, WhatStandsInTheShownPassagesWasRead) {  // FLT-14
  GateSituation situation = After(kNothing);
  situation.explored = Explored::kNo;
  situation.passages = "The vault below the mill opens with 7714.";
  WordRarity rarity{.passages = 100};
  rarity.with[WordHash("vault")] = 1;
  situation.rarity = &rarity;
  GateContext context = Context();
  context.question = "What opens the vault?";
  Gates gates(context);
  EXPECT_EQ(GateOf(gates.Check("7714", situation)), "passed");
  EXPECT_EQ(GateOf(gates.Check("7715", situation)), "unexplored");
  Gates nothing_named(Context());
  EXPECT_EQ(GateOf(nothing_named.Check("7714", situation)), "unexplored");
}

TEST(GatesTest, ANumberAboutAShortTextMustFollowFromWhatWasShown) {  // REC-36
  GateContext context = Context();
  context.context_chars = 60;
  for (const auto& [answer, wanted] : {std::pair{"4711", "unexplored"}, std::pair{"30", "passed"},
                                       std::pair{"Bob", "passed"}, std::pair{"12", "passed"}}) {
    const Texts shown{"12"};  // the reply of a sub-call
    GateSituation situation = After(shown);
    situation.explored = Explored::kNo;
    situation.description = "Fields: name, sum. Sample: Anna,30 7.5";
    Gates gates(context);
    EXPECT_EQ(GateOf(gates.Check(answer, situation)), wanted) << answer;
  }
  // An empty context cannot be read.
  context.context_chars = 0;
  GateSituation situation = After(kNothing);
  situation.explored = Explored::kNo;
  Gates gates(context);
  EXPECT_EQ(GateOf(gates.Check("4711", situation)), "passed");
}

TEST(GatesTest, TheUnexploredGateBeginsAt200Characters) {  // REC-36
  for (const auto& [chars, wanted] : {std::pair{199, "passed"}, std::pair{200, "unexplored"}}) {
    GateContext context = Context();
    context.context_chars = static_cast<std::uint64_t>(chars);
    GateSituation situation = After(kNothing);
    situation.explored = Explored::kNo;
    Gates gates(context);
    EXPECT_EQ(GateOf(gates.Check("x", situation)), wanted) << chars;
  }
}

TEST(GatesTest, WhatTheNewestOutputOfAnAnswerLeavesOutIsRefusedOnce) {  // FLT-36
  const std::string question = "What is the sum of the first 20?";
  Evidence evidence(question, {});
  sandbox::BlockResult part;
  part.ground = sandbox::BlockResult::Ground::kData;
  part.gaps = {{"Only 100 of 300 rows.", 100}, {"Only 20 of 300 rows.", 20}};
  evidence.AddClean("a", part, "500\n");
  EXPECT_EQ(evidence.LeftOut("500", ""), Texts{"Only 100 of 300 rows."});
  sandbox::BlockResult whole;
  whole.ground = sandbox::BlockResult::Ground::kData;
  evidence.AddClean("b", whole, "1500\n");
  EXPECT_TRUE(evidence.LeftOut("1500", "").empty());
  EXPECT_EQ(evidence.LeftOut("500", ""), Texts{"Only 100 of 300 rows."});
  Gates gates(Context());
  GateSituation situation = After(evidence.shown());
  situation.gaps = evidence.LeftOut("500", "");
  const auto refusal = gates.Check("500", situation);
  EXPECT_EQ(GateOf(refusal), "gaps");
  EXPECT_EQ(GateOf(gates.Check("500", situation)), "passed");
  EXPECT_EQ(gates.Doubt("500", situation)->reason, "Only 100 of 300 rows.");
  const Texts unmatched{"Only 100 of 300 rows."};
  situation.unmatched = &unmatched;  // another check handles empty results
  EXPECT_NE(GateOf(gates.Doubt("0", situation)), "gaps");
}

TEST(GatesTest, APartThatTheQuestionAsksForLeavesNothingOut) {  // FLT-36
  sandbox::BlockResult part;
  part.ground = sandbox::BlockResult::Ground::kData;
  part.gaps = {{"Only 100 of 300 rows.", 100}, {"3 of 9 passes failed.", 0}};
  for (const auto& [reply, parts] :
       {std::pair{"ASKED: first hundred rows\nFINAL(5)", 1},
        std::pair{"# ASKED: \"First hundred\"", 1}, std::pair{"ASKED: the last rows", 2},
        std::pair{"ASKED:", 2}, std::pair{"ASKED: What do the first hundred rows add up to?", 2},
        std::pair{"It was asked: first hundred rows", 2}}) {
    Evidence evidence("What do the first hundred rows add up to?", {});
    evidence.AddClean("a", part, "500\n");
    evidence.NoteAsked(reply);
    EXPECT_EQ(evidence.LeftOut("500", "").size(), static_cast<std::size_t>(parts)) << reply;
    evidence.StartAfresh();
    evidence.AddClean("a", part, "500\n");
    EXPECT_EQ(evidence.LeftOut("500", "").size(), 2u) << reply;
  }
  part.gaps = {{"Only 1 of 9 documents.", 1, {"notes/b.txt"}},
               {"Only 2 of 9 documents.", 2, {"b.txt", "c.txt"}}};
  Evidence evidence("How often does b.txt say boat?", {});
  evidence.AddClean("a", part, "500\n");
  EXPECT_EQ(evidence.LeftOut("500", ""), Texts{"Only 2 of 9 documents."});
}

TEST(GatesTest, NoGateRefusesOnTheLastTurnOrWithoutFullForcing) {  // REC-41
  for (const Forcing forcing : {Forcing::kFull, Forcing::kReference, Forcing::kNone}) {
    GateContext context = Context(Checked::kEveryWord);
    context.forcing = forcing;
    Gates gates(context);
    GateSituation situation = After(kNothing);
    situation.explored = Explored::kNo;
    if (forcing == Forcing::kFull) situation.last_chance = LastChance::kYes;
    EXPECT_EQ(GateOf(gates.Check("42", situation)), "passed") << static_cast<int>(forcing);
    // An answer that is no longer refused is still doubtful.
    EXPECT_EQ(GateOf(gates.Doubt("42", situation)),
              forcing == Forcing::kFull ? "unexplored" : "passed");
  }
}

TEST(GatesTest, FailedSubcallsThatTheModelDoesNotKnowOfAreToldOnce) {  // FLT-11
  Gates gates(Context());
  const Texts shown{"42"};
  GateSituation situation = After(shown);
  situation.failed_subcalls = "3 of 40 failed (3 cut)";
  const auto refusal = gates.Check("42", situation);
  ASSERT_EQ(GateOf(refusal), "subcalls");
  EXPECT_THAT(refusal->reason, HasSubstr("3 of 40 failed (3 cut)"));
  EXPECT_EQ(GateOf(gates.Check("42", situation)), "passed");
}

TEST(GatesTest, TheMessageOfAFailedSubcallIsNoAnswer) {  // FLT-36
  Gates gates(Context());
  const Texts shown{"42"};
  GateSituation situation = After(shown);
  situation.error_texts = {"the prompt has 64,046 tokens"};
  EXPECT_EQ(GateOf(gates.Doubt("[ERROR] the prompt has 64,046 tokens", situation)), "error_text");
  EXPECT_EQ(GateOf(gates.Doubt("42", situation)), "passed");
}

TEST(GatesTest, ASmallModelsAnswerMustStandOnWhatWasShown) {  // REC-40
  Gates gates(Context(Checked::kEveryWord));
  const Texts shown{"total 42"};
  EXPECT_EQ(GateOf(gates.Check("42", After(shown))), "passed");
  const auto refusal = gates.Check("4711", After(shown));
  ASSERT_EQ(GateOf(refusal), "grounding");
  EXPECT_THAT(refusal->reason, HasSubstr("No output shows 4711."));
  EXPECT_EQ(GateOf(gates.Check("4711", After(shown))), "passed");
  EXPECT_EQ(GateOf(gates.Doubt("4711", After(shown))), "grounding");
}

TEST(GatesTest, ALargeModelMayReckonButNotInventAllNumbersOfAShortAnswer) {  // FLT-14
  Gates gates(Context());
  const Texts shown{"12 and 30"};
  EXPECT_EQ(GateOf(gates.Doubt("42", After(shown))), "passed");
  EXPECT_EQ(GateOf(gates.Doubt("43", After(shown))), "grounding");
  EXPECT_EQ(GateOf(gates.Doubt("He said \"never\".", After(shown))), "grounding");
  EXPECT_EQ(GateOf(gates.Doubt("42, of which 31", After(shown))), "grounding");
  EXPECT_EQ(GateOf(gates.Doubt("12 + 30 = 42", After(shown))), "passed");
  EXPECT_EQ(GateOf(gates.Doubt("no numbers here", After(shown))), "passed");
  EXPECT_EQ(GateOf(gates.Doubt(std::string(300, 'x') + " 42", After(shown))), "passed");
}

TEST(GatesTest, AnEmptyResultIsQuestionedWithWhatDidNotFit) {  // FLT-36
  const Texts shown{"0"}, unmatched{"No row has status == 'Lost'. Its values: 'lost' (4)."};
  GateSituation situation = After(shown);
  situation.unmatched = &unmatched;
  Gates gates(Context());
  const auto refusal = gates.Check("0", situation);
  ASSERT_EQ(GateOf(refusal), "empty");
  EXPECT_THAT(refusal->reason, HasSubstr("Its values: 'lost' (4)."));
  EXPECT_EQ(GateOf(gates.Doubt("There are 0.00 of them", situation)), "empty");
  // A large model may give a count of zero if its conditions match something.
  EXPECT_EQ(GateOf(gates.Doubt("0", After(shown))), "passed");
  EXPECT_EQ(GateOf(Gates(Context(Checked::kEveryWord)).Doubt("0", After(shown))), "empty");
  const Texts read{"the temperature fell to 0 degrees at noon, and 5 at night"};
  EXPECT_EQ(GateOf(Gates(Context(Checked::kEveryWord)).Doubt("0", After(read))), "passed");
}

TEST(GatesTest, AProvedZeroIsBelievedOfAnybody) {  // FLT-36
  const Texts shown{"0"};
  GateSituation situation = After(shown);
  situation.nothing = sandbox::BlockResult::Nothing::kProved;
  EXPECT_EQ(GateOf(Gates(Context(Checked::kEveryWord)).Doubt("0", situation)), "passed");
}

TEST(GatesTest, WhereValuesWereShownZeroIsTheWordNone) {  // FLT-36
  const Texts shown{"{'DE': 3, 'Spain': 2}"};
  GateSituation situation = After(shown);
  situation.outputs = &shown;
  EXPECT_EQ(GateOf(Gates(Context()).Doubt("0", situation)), "grounding") << "nobody can tell";
  situation.shows_values = [](std::span<const std::string>) { return true; };
  for (const char* answer : {"0", "0 of them", "None", "0, only DE and Spain"}) {
    EXPECT_EQ(GateOf(Gates(Context()).Doubt(answer, situation)), "passed") << answer;
  }
  EXPECT_EQ(GateOf(Gates(Context()).Doubt("0.7", situation)), "grounding");
}

TEST(GatesTest, AWholeQuotationIsCheckedLikeOneInASentence) {  // FLT-36
  const Texts shown{"request 1 served"};
  GateSituation situation = After(shown);
  situation.quoted = Offer::Quoted::kYes;
  EXPECT_EQ(GateOf(Gates(Context()).Doubt("request 1 served", situation)), "passed");
  EXPECT_EQ(GateOf(Gates(Context()).Doubt("no request", situation)), "grounding");
  EXPECT_EQ(GateOf(Gates(Context()).Doubt("Oslo", situation)), "passed") << "a word alone";
}

TEST(GatesTest, ADressedZeroIsOneToo) {  // FLT-36
  const Texts shown{"0"}, unmatched{"'open' stands nowhere in the text."};
  const Texts code{"FINAL('No ticket is open.' if not found else found[0])"};
  GateSituation situation = After(shown);
  situation.unmatched = &unmatched;
  situation.sizes = "1 3000";
  situation.code = &code;
  const auto doubt = [&](std::string_view answer) {
    return GateOf(Gates(Context()).Doubt(answer, situation));
  };
  for (const char* answer : {"0 of 3000 tickets", "0.00 %", "[0, 0]", "{'open': 0, 'closed': 0}",
                             "No ticket is open.", "None of them is."}) {
    EXPECT_EQ(doubt(answer), "empty") << answer;
  }
  EXPECT_NE(doubt("17 of 3000 tickets"), "empty");
  const Texts found{"0", "Oslo (12)"};
  situation.shown = &found;
  EXPECT_EQ(doubt("Oslo"), "passed");
  EXPECT_EQ(doubt("No ticket is open."), "empty") << "the code held it ready";
}

TEST(GatesTest, ALargeModelIsBelievedWhenItHasSeenValuesOfTheData) {  // FLT-36
  const Texts unmatched{"'open' stands nowhere in the text."}, shown{"0"};
  const auto after = [&](std::string_view output) {
    Gates gates(Context());
    Texts outputs{"0"};
    GateSituation situation = After(shown);
    situation.unmatched = &unmatched;
    situation.outputs = &outputs;
    const std::set<std::string, std::less<>> fields{"status", "id"},
        values{"closed", "waiting", "101", "102", "103", "status", "id", "7"};
    situation.shows_values = [&](std::span<const std::string> shown_since) {
      return ShowsValues(shown_since, "How many are open?", fields,
                         [&](std::string_view word) { return values.contains(word); });
    };
    EXPECT_EQ(GateOf(gates.Check("0", situation)), "empty");
    outputs.emplace_back(output);
    return GateOf(gates.Doubt("0", situation));
  };
  EXPECT_EQ(after("{'closed', 'waiting'}"), "passed");
  EXPECT_EQ(after("101 102 103"), "passed");
  EXPECT_EQ(after("['closed']"), "passed") << "the one value that there is";
  for (const char* output :
       {"0", "None", "False", "set()", "Counter()", "<class 'str'>", "[]", "7", "True", "[] True",
        "['status', 'id']", "101 102", "Wed Nov 25 09:12:44 2026"}) {
    EXPECT_EQ(after(output), "empty") << output;
  }
}

TEST(GatesTest, OutputsOfAnEarlierAttemptAreNotCounted) {  // FLT-36
  const Texts unmatched{"'open' stands nowhere in the text."}, shown{"0"};
  Gates gates(Context());
  Texts outputs{"0", "0", "0"};
  GateSituation situation = After(shown);
  situation.unmatched = &unmatched;
  situation.outputs = &outputs;
  situation.shows_values = [](std::span<const std::string>) { return true; };
  EXPECT_EQ(GateOf(gates.Check("0", situation)), "empty");
  gates.StartAfresh();
  outputs = {"{'closed', 'waiting'}", "a", "b", "c", "d"};
  EXPECT_EQ(GateOf(gates.Doubt("0", situation)), "empty");
}

TEST(EvidenceTest, WhyAZeroIsOneStaysUntilTheConditionFits) {  // FLT-36
  Evidence evidence("How many?", {});
  sandbox::BlockResult empty, other, fitting;
  empty.unmatched = {"'open' stands nowhere in the text."};
  evidence.AddClean("a", empty, empty.out);
  evidence.AddClean("b", other, other.out);
  evidence.AddClean("c", empty, empty.out);
  EXPECT_EQ(evidence.unmatched(), empty.unmatched);
  fitting.settled = empty.unmatched;
  evidence.AddClean("d", fitting, fitting.out);
  EXPECT_TRUE(evidence.unmatched().empty());
}

TEST(GatesTest, AQuestionForANumberGetsOne) {  // FLT-36
  const Texts shown{"many, about twelve"};
  GateSituation situation = After(shown);
  situation.wanted = AnswerKind::kNumber;
  EXPECT_EQ(GateOf(Gates(Context(Checked::kEveryWord)).Check("many", situation)), "kind");
  const Texts computed{"Out: ('many', 12)"};
  situation.outputs = &computed;
  EXPECT_EQ(GateOf(Gates(Context(Checked::kEveryWord)).Check("many", situation)), "passed")
      << "code worked it out";
  situation.outputs = nullptr;
  situation.wanted = AnswerKind::kOther;
  EXPECT_EQ(GateOf(Gates(Context(Checked::kEveryWord)).Check("many", situation)), "passed");
}

TEST(GatesTest, ABareNumberForAnotherQuestionIsDoubtedWhereNoPassageStatesIt) {  // FLT-36
  const Texts shown{"1", "1 blue"};
  GateSituation situation = After(shown);
  const auto check = [&](std::string_view answer) {
    return GateOf(Gates(Context(Checked::kEveryWord)).Check(answer, situation));
  };
  situation.wanted = AnswerKind::kOther;
  EXPECT_EQ(check("1"), "passed");
  situation.passages_read = GateSituation::Passages::kStateNothing;
  EXPECT_EQ(check("1"), "kind");
  EXPECT_EQ(check("1 blue"), "passed");
  EXPECT_NE(check("2024-05-01"), "kind") << "a date is no number";
  situation.wanted = AnswerKind::kNumber;
  EXPECT_EQ(check("1"), "passed");
}

TEST(GatesTest, OnlyWhoReadAllOfItMayDeny) {  // FLT-36
  const Texts shown{"The wind blew over the fields."};
  WordRarity words{.passages = 10};
  for (const char* word : {"wind", "fields", "vault", "moor"}) words.with[WordHash(word)] = 1;
  words.with[WordHash("the")] = 10;
  GateContext context = Context();
  context.question = "Who owns the vault?";
  GateSituation situation = After(shown);
  situation.all_words = &words;
  const auto doubt = [&](std::string_view answer) {
    return GateOf(Gates(context).Doubt(answer, situation));
  };
  EXPECT_EQ(doubt("not stated"), "passed") << "all was read";
  situation.read = {.by_models = 0.02, .by_code = 0.05, .by_any = 0.06};
  const auto refusal = Gates(context).Check("It is not stated.", situation);
  ASSERT_EQ(GateOf(refusal), "part");
  EXPECT_THAT(refusal->reason,
              HasSubstr("Only 6 % of the context was read (5 % by code, 2 % in sub-calls)"));
  EXPECT_EQ(doubt("0"), "part");
  EXPECT_EQ(doubt("the wind"), "passed") << "taken from what was read";
  situation.passages = "note.txt: The vault. He had no sons.";
  EXPECT_EQ(doubt("It is not stated."), "part") << "the question chose the passages";
  EXPECT_EQ(doubt("No."), "part") << "no value that was read";
  EXPECT_EQ(doubt("The note does not say."), "part") << "the name of a document";
  situation.passages = {};
  situation.in_data = [](std::string_view text) { return text == "the"; };
  EXPECT_EQ(doubt("The"), "passed") << "a value that is common";
  const Texts place{"The vault lies below the fields."};
  situation.shown = &place;
  EXPECT_EQ(doubt("not stated"), "passed") << "the place of the question was read";
  situation.read.by_any = 0.95;
  situation.shown = &shown;
  EXPECT_EQ(doubt("not stated"), "passed");
}

TEST(GatesTest, DatesAndNumeralsOfSmallModelsAreChecked) {  // FLT-36
  const Texts shown{"born 1821-11-03, of 1.08 people"};
  const auto doubt = [&](std::string_view answer) {
    return GateOf(Gates(Context(Checked::kEveryWord)).Doubt(answer, After(shown)));
  };
  EXPECT_EQ(doubt("1821-11-03"), "passed");
  EXPECT_EQ(doubt("1821-03-11"), "grounding");
  EXPECT_EQ(doubt("1.08 billion"), "grounding");
}

// A context of 100 passages: "the" in all, "captain" in 10, "vessel" in 1, "piano" in 2.
WordRarity Rarity() {
  WordRarity rarity{.passages = 100};
  const std::pair<const char*, std::uint64_t> kWords[] = {
      {"the", 100}, {"captain", 10}, {"vessel", 1}, {"piano", 2}, {"plays", 3}, {"violin", 2}};
  for (const auto& [word, with] : kWords) rarity.with[WordHash(word)] = with;
  return rarity;
}

TEST(GatesTest, AnAnswerThatNoTextShownHoldsIsRefused) {  // FLT-36
  GateContext context = Context(Checked::kEveryWord);
  context.question = "Which instrument does the captain of the vessel play?";
  const WordRarity rarity = Rarity();
  const Texts shown{"The captain of the vessel plays the violin at night, they say."};
  GateSituation situation = After(shown);
  situation.rarity = &rarity;
  EXPECT_EQ(GateOf(Gates(context).Check("the violin", situation)), "passed");
  EXPECT_EQ(GateOf(Gates(context).Check("the piano", situation)), "grounding");
}

TEST(GatesTest, AValueFromAPlaceThatNamesNothingOfTheQuestionIsRefused) {  // FLT-36
  GateContext context = Context(Checked::kEveryWord);
  context.question = "Which instrument does the captain of the vessel play?";
  const WordRarity rarity = Rarity();
  const Texts shown{"In the hall of the school there stood the old piano of the teacher."};
  GateSituation situation = After(shown);
  situation.rarity = &rarity;
  EXPECT_EQ(GateOf(Gates(context).Check("the piano", situation)), "near");
  const Texts computed{"piano"};
  situation.shown = &computed;
  EXPECT_EQ(GateOf(Gates(context).Check("the piano", situation)), "passed");
}

TEST(GatesTest, AWordThatOnlySubcallsSayIsToldOnce) {  // FLT-36
  GateContext context = Context();
  context.question = "Which instrument does the keeper play in the evening?";
  const Texts shown{"the piano"}, code{"llm_query('Is it a violin? ' + context)"};
  GateSituation situation = After(shown);
  situation.code = &code;
  situation.explained = false;
  situation.in_data = [](std::string_view word) {
    return std::string_view("he played the clarinets for a carpenter").find(word) !=
           std::string_view::npos;
  };
  Gates gates(context);
  EXPECT_EQ(GateOf(gates.Check("the piano", situation)), "grounding");
  EXPECT_EQ(GateOf(gates.Check("the piano", situation)), "passed");
  EXPECT_EQ(GateOf(gates.Doubt("the piano", situation)), "passed");  // may be a judgement
  EXPECT_EQ(GateOf(Gates(context).Doubt("the piano", situation)), "grounding");
  const Gates fresh(context);
  for (const char* answer : {"clarinet", "a clarinettist", "carpentry", "violin", "yes", "No.",
                             "in the evening", "It is not known which one it could be."}) {
    EXPECT_EQ(GateOf(fresh.Doubt(answer, situation)), "passed") << answer;
  }
  situation.explained = true;
  EXPECT_EQ(GateOf(fresh.Doubt("the piano", situation)), "passed");
}

TEST(EvidenceTest, WordsThatTheModelQuotesAreKeptIfTheyAreLongEnough) {  // FLT-36
  Evidence evidence("Which mood has the letter?", {});
  evidence.NoteAsked("It says that all is well.\n**IT SAYS:** \"her\"\nFINAL(melancholic)");
  EXPECT_EQ(evidence.says(), "");
  evidence.NoteAsked("IT SAYS: \"I shall never see Her\"\nFINAL(melancholic)");
  EXPECT_EQ(evidence.says(), "i shall never see her");
}

}  // namespace
}  // namespace dossier::ask
