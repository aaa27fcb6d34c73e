#include <gtest/gtest.h>

#include <filesystem>

#include "base/text/text.h"
#include "testing/session_fixture.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;

constexpr char kJavaScriptWorker[] = DOSSIER_BIN_DIR "/dossier-javascript-worker";

class JavaScriptSessionTest : public SandboxTest {
 protected:
  static void SetUpTestSuite() {
    if (!std::filesystem::exists(kJavaScriptWorker)) return;
    auto made = Pool::Make({.dialect = Dialect::kJavaScript, .worker_path = kJavaScriptWorker});
    ASSERT_TRUE(made) << made.error().message;
    pool_ = std::move(*made);
  }

  void SetUp() override {
    if (!pool_) {
      GTEST_SKIP() << "NOT TESTED: this build has no JavaScript worker; install libmozjs-102-dev "
                      "(scripts/setup --javascript) and configure again";
    }
    session_ = Open({.seed = 7, .features = {{"question", "q"}, {"depth", 1}}});
    ASSERT_TRUE(session_);
  }

  std::string Out(std::string_view code) { return Output(*session_, code); }
  std::string ErrorOf(std::string_view code) {
    const BlockResult result = Run(*session_, code);
    return result.error ? fmt::format("{}: {}", result.error->type, result.error->message) : "none";
  }

  // A block that has to be stopped: the same session goes on behind it, with its names.
  void ExpectStopped(std::string_view code) {
    auto session = Open({.limits = {.silence = Millis(300)}});
    ASSERT_TRUE(session);
    EXPECT_EQ(Output(*session, "let kept = 5; print(kept)"), "5\n");
    const auto before = std::chrono::steady_clock::now();
    const BlockResult result = Run(*session, code);
    EXPECT_EQ(result.status, BlockStatus::kInterrupted) << code << ": " << result.death_reason;
    EXPECT_LT(std::chrono::steady_clock::now() - before, Millis(2800)) << code;
    EXPECT_EQ(Output(*session, "print(kept)"), "5\n") << code;
  }

  std::unique_ptr<Session> session_;
};

TEST_F(JavaScriptSessionTest, TopLevelNamesPersistAndMayBeDeclaredAgain) {  // SBX-65, REC-21
  EXPECT_EQ(Out("let a = 1, {b, c = 3} = {b: 2}; const k = 4; var v;\n"
                "class P { x() { return 1 } }\n"
                "function f(n) { return n < 2 ? 1 : n * f(n - 1) }\n"
                "print(a, b, c, k, v, new P().x(), f(5))"),
            "1 2 3 4 undefined 1 120\n");
  EXPECT_EQ(
      Out("const a = 10; let k = 5; class P { x() { return 2 } } function f() { return 'new' }\n"
          "print(a + k, new P().x(), f(), b)"),
      "15 2 new 2\n");
  EXPECT_EQ(Out("for (var i = 0; i < 3; i++) { var inner = i }\nprint(i, inner)"), "3 2\n");
  EXPECT_EQ(Out("print(early()); function early() { return a }"), "10\n")
      << "functions are hoisted";
}

TEST_F(JavaScriptSessionTest, AwaitWorksAtTheTopAndARejectionIsTheError) {  // SBX-66
  EXPECT_EQ(Out("const x = await Promise.resolve(5);\n"
                "setTimeout(() => print('timer'), 1); await new Promise(r => setTimeout(r, 20));\n"
                "queueMicrotask(() => print('micro')); print(x)"),
            "timer\n5\nmicro\n");
  const BlockResult failed =
      Run(*session_, "let done = 1;\n\nawait Promise.reject(new RangeError('far'))");
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->type, "RangeError");
  EXPECT_EQ(failed.error->message, "far");
  EXPECT_EQ(failed.error->line, 3);
  EXPECT_THAT(failed.error->source, HasSubstr("RangeError"));
  EXPECT_EQ(Out("print(done)"), "1\n");
  EXPECT_THAT(ErrorOf("await new Promise(() => {})"), HasSubstr("nothing will settle"));
}

TEST_F(JavaScriptSessionTest, ThePreludeAddsWhatTheEngineLacks) {  // SBX-67
  EXPECT_EQ(Out("print([3, 1].toSorted(), [1, 2].toReversed(), [1, 2].with(0, 9), "
                "[1, 2, 3].findLast(x => x < 3), [1, 2, 3].findLastIndex(x => x < 3))"),
            "[1, 3] [2, 1] [9, 2] 2 1\n");
  EXPECT_EQ(Out("print(Object.groupBy([1, 2], x => x % 2 ? 'odd' : 'even'), "
                "Map.groupBy([1, 2], x => x % 2).get(1), await Array.fromAsync([1, "
                "Promise.resolve(2)]))"),
            "{\"odd\": [1], \"even\": [2]} [1] [1, 2]\n");
  EXPECT_EQ(Out("print(btoa('hi'), atob('aGk='), new TextDecoder().decode(new "
                "TextEncoder().encode('é😀')), "
                "new URL('../x?a=1#h', 'https://a.b/c/d/e').href, typeof performance.now())"),
            "aGk= hi é😀 https://a.b/c/x?a=1#h number\n");
  EXPECT_EQ(Out("print(structuredClone({a: [new Map([[1, 2]])]}), 'a\\ud800'.isWellFormed(), "
                "typeof Promise.withResolvers().resolve, new Set([1]).union(new Set([2])))"),
            "{\"a\": [Map(1) {1 => 2}]} false function Set(2) {1, 2}\n");
  EXPECT_EQ(
      Out("print([...new Intl.Segmenter('en').segment('e\\u0301👨‍👩‍👧x')].length)"),
      "3\n");
}

TEST_F(JavaScriptSessionTest, WhatReachesOutIsAbsent) {  // SBX-68, SBX-E12
  EXPECT_EQ(
      Out("print(typeof WebAssembly, typeof SharedArrayBuffer, typeof Atomics, typeof require, "
          "typeof process, typeof fetch, typeof load, typeof read, typeof quit, typeof "
          "Reflect.parse)"),
      "undefined undefined undefined undefined undefined undefined undefined undefined undefined "
      "undefined\n");
  EXPECT_THAT(ErrorOf("import fs from 'fs'"), HasSubstr("SyntaxError"));
  EXPECT_NE(ErrorOf("await import('fs')"), "none");
  EXPECT_THAT(ErrorOf("print['constructor']('return process')()"),
              HasSubstr("process is not defined"));
}

TEST_F(JavaScriptSessionTest, ValuesPrintReadablyAndBounded) {  // SBX-69
  EXPECT_EQ(Out("const o = {}; o.self = o;\n"
                "print(o, new Map([['a', 1]]), new Set([1]), new Error('boom'), 12n, () => 1, "
                "class Q {}, "
                "{get x() { throw 1 }}, new Proxy({}, {get() { throw 1 }, ownKeys() { throw 2 }}), "
                "[, 1], null)"),
            "{\"self\": [Circular]} Map(1) {\"a\" => 1} Set(1) {1} [Error: boom] 12n [function] "
            "[class Q] "
            "{\"x\": [Getter]} [Proxy] [<empty>, 1] null\n");
  EXPECT_LT(Out("print(Array.from({length: 1e5}, (_, i) => ({i})))").size(), 10'000u);
  EXPECT_EQ(Out("__vars.f = x => x + 1; __vars.n = 1; delete __vars.n; print(__vars.f(2), "
                "Object.keys(__vars))"),
            "3 [\"query\", \"context\", \"contextMeta\", \"f\"]\n");  // REC-21
}

TEST_F(JavaScriptSessionTest, ChangedPrototypesChangeNothingOfOurs) {  // SBX-70
  int calls = 0;
  JsonObject asked;
  AnsweringHandler handler([&](BridgeCall call, const std::shared_ptr<BridgeReply>& reply) {
    ++calls;
    asked = call.args;
    reply->Ok(JsonObject{{"text", "fine"}});
  });
  const auto result = session_->Run(
      "Object.prototype.model = 'evil'; Object.prototype.toJSON = () => 'evil';\n"
      "Array.prototype[Symbol.iterator] = null; Array.prototype.push = null; JSON.stringify = "
      "null;\n"
      "Promise.prototype.then = null; Map.prototype.get = null; String.prototype.split = null;\n"
      "print(await llm_query('hello'), {a: 1})",
      {}, handler);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->error) << result->error->message;
  EXPECT_EQ(result->out, "fine {\"a\": 1}\n");
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(asked.at("model").is_null());
  EXPECT_EQ(Out("print(1)"), "1\n");
}

TEST_F(JavaScriptSessionTest, AnyValueMayBeThrown) {  // SBX-71
  EXPECT_EQ(ErrorOf("throw null"), "Error: null");
  EXPECT_EQ(ErrorOf("throw undefined"), "Error: undefined was thrown");
  EXPECT_EQ(ErrorOf("throw {code: 5}"), "Error: {\"code\": 5}");
  EXPECT_EQ(Out("try { (function r() { r() })() } catch (e) { print(e.message) }"),
            "too much recursion\n");
  EXPECT_EQ(ErrorOf("__vars.zed = 1; zed"),
            "ReferenceError: zed is not defined; it is __vars.zed");  // REC-21
}

TEST_F(JavaScriptSessionTest, EveryHangIsStoppedAndTheRealmLivesOn) {  // SBX-44, SBX-A3
  ExpectStopped("try { for (;;) {} } finally { for (;;) {} }");
  ExpectStopped("for (;;) { try { for (;;) {} } catch {} }");
  ExpectStopped("/(a+)+$/.test('a'.repeat(40) + 'b')");
  ExpectStopped("while (true) await null");
  ExpectStopped("await new Promise(r => setTimeout(r, 1e6))");
}

TEST_F(JavaScriptSessionTest, TooMuchMemoryEndsTheBlock) {  // SBX-45
  auto session = Open({.limits = {.memory = 256u << 20}});
  ASSERT_TRUE(session);
  const BlockResult result =
      Run(*session, "let big = []; for (;;) big.push(new Array(100).fill(0).map((_, i) => ({i})))");
  ASSERT_TRUE(result.error) << BlockStatusName(result.status) << " " << result.death_reason;
  EXPECT_EQ(result.error->type, "MemoryError");
  EXPECT_EQ(Output(*session, "big = null; print('alive')"), "alive\n");
  const BlockResult garbage =
      Run(*session, "for (let i = 0; i < 3000; i++) new Array(1e5).fill({i}); print('garbage')");
  EXPECT_EQ(garbage.out, "garbage\n")
      << BlockStatusName(garbage.status) << " " << garbage.stopped << " "
      << (garbage.error ? garbage.error->type + ": " + garbage.error->message : "") << " "
      << garbage.death_reason;
}

TEST_F(JavaScriptSessionTest, TheContextIsExact) {  // SBX-34
  const std::string text = "naïve\r\n😀 two\nthree\n";
  const UniqueFd fd = MakeContextFd(text);
  auto session = Open(
      {.contexts = {{.name = "a.txt", .fd = fd.get(), .bytes = text.size(), .characters = 19}}});
  ASSERT_TRUE(session);
  EXPECT_EQ(Output(*session,
                   "print(__vars.context === 'naïve\\r\\n😀 two\\nthree\\n', doc.length === "
                   "__vars.context.length)"),
            "true true\n");
  EXPECT_EQ(Output(*session,
                   "print(String(doc.slice(7, 9)) === '😀', doc.text(10, 13), "
                   "String(doc.slice(-6)) === 'three\\n')"),
            "true two true\n");
}

TEST_F(JavaScriptSessionTest, WhatCodeSaysItselfIsNoEvidence) {  // REC-40
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  const UniqueFd fd = MakeContextFd("one\ntwo\nthree\n");
  auto session =
      Open({.contexts = {{.name = "a.txt", .fd = fd.get(), .bytes = 14, .characters = 14}}});
  ASSERT_TRUE(session);
  const auto typed = [&](std::string_view code) {
    const BlockResult result = Run(*session, code);
    EXPECT_FALSE(result.error) << code << ": " << result.error->message;
    return result.typed;
  };
  using Ground = BlockResult::Ground;
  EXPECT_EQ(Run(*session, "print(1343)").ground, Ground::kNothing) << "no data was touched";
  EXPECT_THAT(typed("const lines = __vars.context.split('\\n').length; print(lines, 1343)"),
              ElementsAre("1343"));
  EXPECT_EQ(Run(*session, "print(lines)").ground, Ground::kData);
  EXPECT_THAT(typed("print('13' + '43', 6 * 7, `${40 + 2} jobs`, -5)"),
              ElementsAre("1343", "42", "42 jobs", "-5", "1343 42 42 jobs -5"));
  EXPECT_THAT(typed("console.log(`there are ${lines} of ${7}`)"),
              ElementsAre("there are", "of", "7"));
  EXPECT_THAT(typed("const n = 1343, m = lines; let k = 5; k += m; __vars.total = 900\n"
                    "print(n, m, k, __vars.total)"),
              ElementsAre("1343", "900"));
  EXPECT_THAT(typed("n"), ElementsAre("1343")) << "it still holds what was typed in";
  EXPECT_THAT(typed("const n = lines; print(n)"), IsEmpty()) << "it does no more";
  EXPECT_THAT(typed("print(JSON.stringify({a: 77, b: lines}), String(8).padStart(lines, '0'))"),
              ElementsAre("77", "8", "0"));
  // A choice that data make, and what is no output.
  EXPECT_THAT(typed("print(lines > 2 ? 'many' : 'few', [3, 4][lines - 4])"), IsEmpty());
  EXPECT_THAT(typed("const wanted = 100; const found = lines + wanted - 100; print(found)"),
              IsEmpty());
  EXPECT_THAT(typed("print(undefined || 55, lines ?? 66)"), ElementsAre("55", "66"));
  EXPECT_THAT(typed("for (const word of ['a']) print(word); undefined"), IsEmpty());
  const BlockResult handed = Run(*session, "const said = '12 jobs'; SUBMIT({variable: 'said'})");
  EXPECT_THAT(handed.typed, ElementsAre("said", "12 jobs"));
  EXPECT_EQ(Run(*session, "print(`" + std::string((1u << 20) + 1, 'x') + "`.length)").ground,
            Ground::kData);
  EXPECT_EQ(Run(*session, "print(`" + std::string((1u << 20) + 1, 'x') + "`)").ground,
            Ground::kNothing);
}

TEST_F(JavaScriptSessionTest, LaterSessionsShareTheTextOfTheirContext) {  // SBX-34, SBX-33
  constexpr std::uint64_t kBytes = 32u << 20;
  const std::uint64_t without = Run(*session_, "print(1)").peak_bytes;
  for (const std::string letter : {"a", "α"}) {
    std::string text = letter;
    while (text.size() < kBytes) text += text;
    const std::uint64_t letters = text.size() / letter.size();
    const UniqueFd fd = MakeContextFd(text);
    const SessionSpec spec{
        .contexts = {
            {.name = "a.txt", .fd = fd.get(), .bytes = text.size(), .characters = letters}}};
    auto first = Open(spec);
    ASSERT_TRUE(first);
    EXPECT_EQ(Output(*first, fmt::format("print(__vars.context.lastIndexOf('{}'))", letter)),
              fmt::format("{}\n", letters - 1));
    auto second = Open(spec);
    ASSERT_TRUE(second);
    // What a process is forked with counts as its own, though nothing was copied or read.
    EXPECT_GT(Run(*second, "print(1)").peak_bytes, without + kBytes / 4 * 3) << letter;
    EXPECT_EQ(Output(*second, "const text = __vars.context; print(text.length, text.at(-1))"),
              fmt::format("{} {}\n", letters, letter));
    // It is none of the memory that code may use, and its places are known.
    EXPECT_EQ(Output(*second,
                     "const own = 'β'.repeat(9) + text.slice(5); print(own.length, "
                     "String(doc.slice(doc.length - 2)))"),
              fmt::format("{} {}{}\n", letters + 4, letter, letter));
  }
}

TEST_F(JavaScriptSessionTest, ALongContextIsAViewWithBothNumbers) {  // SBX-34, REC-A26
  const std::string text(5000, 'x');
  const UniqueFd fd = MakeContextFd(text);
  auto session =
      Open({.contexts = {{.name = "a.txt", .fd = fd.get(), .bytes = 5000, .characters = 5000}},
            .context_string_max = 1000});
  ASSERT_TRUE(session);
  const BlockResult result = Run(*session, "print(__vars.context.length, __vars.context === doc)");
  EXPECT_EQ(result.out, "5000 true\n");
  EXPECT_THAT(Join(result.notes, " "), HasSubstr("5,000 bytes"));
  EXPECT_THAT(Join(result.notes, " "), HasSubstr("1,000 bytes"));
}

TEST_F(JavaScriptSessionTest, SubmitTakesExactlyOneField) {  // REC-23
  EXPECT_THAT(ErrorOf("SUBMIT({})"), HasSubstr("missing"));
  EXPECT_THAT(ErrorOf("SUBMIT({answer: 'a', variable: 'b'})"), HasSubstr("both"));
  EXPECT_THAT(ErrorOf("SUBMIT({variable: 'nowhere'})"), HasSubstr("no variable"));
  EXPECT_THAT(ErrorOf("SUBMIT({answer: 5})"), HasSubstr("must be a text"));
  EXPECT_THAT(ErrorOf("let n = 5; SUBMIT({variable: 'n'})"), HasSubstr("must be a text"));
  const BlockResult result = Run(
      *session_,
      "let t = 'the end'; try { SUBMIT({variable: 't'}) } catch {} finally { print('swallowed') }");
  ASSERT_TRUE(result.answer);
  EXPECT_EQ(result.answer->text, "the end");
  EXPECT_EQ(result.out, "");
}

TEST_F(JavaScriptSessionTest, RequestsRunAtTheSameTimeAndAFailureRejects) {  // REC-44
  std::vector<std::shared_ptr<BridgeReply>> open;
  AnsweringHandler handler([&](const BridgeCall&, std::shared_ptr<BridgeReply> reply) {
    open.push_back(std::move(reply));
    if (open.size() < 3) return;  // all are sent before the first is answered
    open[2]->Ok(JsonObject{{"text", "c"}});
    open[1]->Fail("too_large", "12 characters; the limit is 10");
    open[0]->Ok(JsonObject{{"text", "a"}});
  });
  const auto result = session_->Run(
      "const all = await Promise.allSettled(['1', '2', '3'].map(t => llm_query(t)));\n"
      "print(all.map(r => r.value ?? r.reason.message), all[1].reason.kind)",
      {}, handler);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out, "[\"a\", \"12 characters; the limit is 10\", \"c\"] too_large\n");
}

TEST_F(JavaScriptSessionTest, TheSameSeedGivesTheSameNumbers) {  // SBX-48, SBX-A13
  auto other = Open({.seed = 7});
  ASSERT_TRUE(other);
  EXPECT_EQ(Out("print(Math.random())"), Output(*other, "print(Math.random())"));
}

TEST_F(JavaScriptSessionTest, TheWallsStand) {  // SBX-10
  for (const char* layer : {"process", "flags", "rlimits", "seccomp", "seccomp-threads"}) {
    EXPECT_TRUE(session_->report().Applied(layer)) << layer;
  }
  EXPECT_THAT(session_->report().worker, HasSubstr("javascript 102"));
}

TEST_F(JavaScriptSessionTest, NamesOfTheSessionStay) {  // REC-17
  const BlockResult refused = Run(*session_, "let doc = 1");
  EXPECT_EQ(refused.status, BlockStatus::kNotRun);
  EXPECT_THAT(refused.refused, HasSubstr("`doc` already holds the data"));
  EXPECT_THAT(ErrorOf("llm_query = 1"), HasSubstr("belongs to the session"));
}

TEST(JavaScriptWorkerTest, ABuildWithoutItSaysSo) {  // SBX-1
  const auto found = WorkerBuild({.dialect = Dialect::kJavaScript});
  if (found) GTEST_SKIP() << "this build has the JavaScript worker";
  EXPECT_THAT(found, FailsWith(ErrorCode::kUnavailable, "this build has no JavaScript worker"));
}

}  // namespace
}  // namespace dossier::sandbox
