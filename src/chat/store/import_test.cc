#include "chat/store/import.h"

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "chat/document/stored.h"
#include "store/sqlite.h"
#include "testing/result_matchers.h"

namespace dossier::chat {
namespace {

using dossier::testing::FailsWith;
using dossier::testing::Succeeds;

constexpr std::string_view kNow = "2026-11-25T12:00:00.000000Z";

class ImportTest : public ::testing::Test {
 protected:
  std::string Put(const std::string& name, std::string_view text) {
    std::string path = temp_.path() + "/" + name;
    EXPECT_THAT(WriteFileAtomic(path, text), Succeeds());
    return path;
  }

  // A database as statements make it.
  std::string PutDatabase(const std::string& sql) {
    std::string path = temp_.path() + "/logs.db";
    auto db = store::Database::Open(path);
    EXPECT_THAT(db, Succeeds());
    EXPECT_THAT(db->Execute(sql), Succeeds());
    return path;
  }

  std::vector<Stored> Read(const std::string& path) {
    const auto found = ReadForeign(path, kNow);
    EXPECT_THAT(found, Succeeds());
    std::vector<Stored> out;
    if (!found) return out;
    for (const Document& document : *found) out.push_back(*ReadStored(document));
    return out;
  }

  TempFolder temp_ = *TempFolder::Make();
};

std::vector<std::string> Lines(const Stored& stored) {
  std::vector<std::string> lines;
  for (const StoredMessage& message : stored.messages) {
    lines.push_back(message.role + ": " + message.Text());
  }
  return lines;
}

// FLT-136: the tables of llm up to 0.31, with what later versions of them added.
TEST_F(ImportTest, ReadsTheOlderLogOfLlm) {
  const std::string path = PutDatabase(R"(
    CREATE TABLE conversations(id TEXT PRIMARY KEY, name TEXT, model TEXT);
    CREATE TABLE responses(id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT,
      response TEXT, conversation_id TEXT, datetime_utc TEXT);
    CREATE TABLE fragments(id INTEGER PRIMARY KEY, content TEXT);
    CREATE TABLE prompt_fragments(response_id TEXT, fragment_id INTEGER, "order" INTEGER);
    CREATE TABLE attachments(id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
    CREATE TABLE prompt_attachments(response_id TEXT, attachment_id TEXT, "order" INTEGER);
    INSERT INTO conversations VALUES('01abc', 'A talk', 'gpt-4'), ('01empty', '', 'gpt-4');
    INSERT INTO responses VALUES('r2', 'gpt-4', 'and now', NULL, 'two', '01abc',
      '2023-08-01T10:00:01.5+00:00');
    INSERT INTO responses VALUES('r3', 'gpt-4', 'again', 'Be terse.', 'three', '01abc',
      '2023-08-01T10:00:02'), ('r4', 'gpt-4', 'last', 'Be loud.', 'FOUR', '01abc',
      '2023-08-01T10:00:03');
    INSERT INTO responses VALUES('r1', 'gpt-4', 'first', 'Be terse.', 'one', '01abc',
      '2023-08-01T10:00:00');
    INSERT INTO fragments VALUES(1, 'a fragment');
    INSERT INTO prompt_fragments VALUES('r1', 1, 0);
    INSERT INTO attachments VALUES('i', 'image/png', NULL, NULL, x'414243');
    INSERT INTO attachments VALUES('f', 'image/png', '/etc/passwd', NULL, NULL);
    INSERT INTO prompt_attachments VALUES('r2', 'i', 0), ('r2', 'f', 1);
    CREATE TABLE tool_calls(id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, arguments TEXT);
    CREATE TABLE tool_results(id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, output TEXT);
    INSERT INTO tool_calls VALUES(1, 'r3', 'price', '{"of": "tea"}');
    INSERT INTO tool_results VALUES(1, 'r4', 'price', '4 EUR');)");
  const std::vector<Stored> found = Read(path);
  ASSERT_EQ(found.size(), 1u);
  const Stored& talk = found[0];
  EXPECT_EQ(talk.id, "llm-01abc");
  EXPECT_EQ(talk.model, "gpt-4");
  EXPECT_EQ(talk.title, "A talk");
  EXPECT_EQ(talk.created_at, "2023-08-01T10:00:00.000000Z");
  EXPECT_EQ(talk.updated_at, "2023-08-01T10:00:03.000000Z");
  // A file that the log names is named, never read.
  EXPECT_EQ(Lines(talk),
            (std::vector<std::string>{
                "system: Be terse.", "user: a fragment\nfirst", "assistant: one",
                "user: and now\n[attachment image/png /etc/passwd]", "assistant: two",
                "user: again", "assistant: three\n[tool_call price {\"of\": \"tea\"}]",
                "system: Be loud.", "user: last\n[tool_result price]\n4 EUR", "assistant: FOUR"}));
  EXPECT_NE(ToJson(talk.messages[3].json).find("data:image/png;base64,QUJD"), std::string::npos);
}

// FLT-136: as llm 0.36 writes it.
TEST_F(ImportTest, ReadsTheLogOfLlm) {
  const std::string path = PutDatabase(R"(
    CREATE TABLE threads(id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT,
      datetime_utc TEXT);
    CREATE TABLE turns(id TEXT PRIMARY KEY, thread_id TEXT, model TEXT, datetime_utc TEXT);
    CREATE TABLE messages(hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT);
    CREATE TABLE parts(id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT,
      tool_name TEXT, text TEXT, payload TEXT);
    CREATE TABLE fragments(id INTEGER PRIMARY KEY, content TEXT);
    CREATE TABLE conversations(id TEXT PRIMARY KEY, name TEXT, model TEXT);
    CREATE TABLE responses(id TEXT, model TEXT, prompt TEXT, system TEXT, response TEXT,
      conversation_id TEXT, datetime_utc TEXT);
    CREATE VIEW message_tree AS SELECT hash, parent_hash FROM messages;
    INSERT INTO threads VALUES('t1', 'Hello', 'h5', NULL, '');
    INSERT INTO turns VALUES('u1', 't1', 'gpt-4', '2026-11-25T15:43:18.084767+00:00'),
      ('u2', 't1', 'gpt-5', '2026-11-25T15:43:19.5+00:00');
    INSERT INTO messages VALUES('h1', NULL, 'system'), ('h2', 'h1', 'user'),
      ('h3', 'h2', 'assistant'), ('h4', 'h3', 'user'), ('h5', 'h4', 'assistant'),
      ('fork', 'h2', 'assistant');
    INSERT INTO parts VALUES(1, 'h1', 0, 'text', NULL, 'Be terse.', NULL),
      (2, 'h2', 0, 'text', NULL, 'Hello', NULL),
      (3, 'h3', 0, 'reasoning', NULL, 'hm', NULL), (4, 'h3', 1, 'text', NULL, 'Hi', NULL),
      (5, 'h4', 0, 'text', NULL, NULL, '{"text_ref": [{"fragment": 1}, {"literal": "\nnow"}]}'),
      (6, 'h5', 0, 'tool_call', 'search', NULL, '{"arguments": {"q": "ä"}, "tool_call_id": "1"}'),
      (7, 'h5', 1, 'tool_call', 'now', NULL, '{}'),
      (8, 'h5', 2, 'tool_result', 'search', NULL, '{"output": "two\nlines"}'),
      (9, 'h5', 3, 'tool_result', 'now', NULL, '{"output": "", "exception": "no clock"}'),
      (10, 'h5', 4, 'text', NULL, 'done', NULL);
    INSERT INTO fragments VALUES(1, 'a fragment');
    INSERT INTO conversations VALUES('t1', 'Hello', 'gpt-4');
    INSERT INTO responses VALUES('u1', 'gpt-4', 'Hello', '', 'Hi', 't1', '');)");
  const std::vector<Stored> found = Read(path);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, "llm-t1");
  EXPECT_EQ(found[0].model, "gpt-5");
  EXPECT_EQ(found[0].updated_at, "2026-11-25T15:43:19.500000Z");
  EXPECT_EQ(Lines(found[0]),
            (std::vector<std::string>{"system: Be terse.", "user: Hello", "assistant: Hi",
                                      "user: a fragment\nnow",
                                      "assistant: [tool_call search {\"q\":\"ä\"}]\n"
                                      "[tool_call now]\n"
                                      "[tool_result search]\ntwo\nlines\n"
                                      "[tool_result now]\nno clock\ndone"}));
}

TEST_F(ImportTest, RefusesAChainWithoutABeginning) {
  const std::string path = PutDatabase(R"(
    CREATE TABLE threads(id TEXT, name TEXT, tip_message_hash TEXT);
    CREATE TABLE turns(id TEXT, thread_id TEXT, model TEXT, datetime_utc TEXT);
    CREATE TABLE messages(hash TEXT, parent_hash TEXT, role TEXT);
    CREATE TABLE parts(message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT, text TEXT,
      payload TEXT);
    INSERT INTO threads VALUES('t', '', 'a');
    INSERT INTO turns VALUES('u', 't', 'm', '');
    INSERT INTO messages VALUES('a', 'b', 'user'), ('b', 'a', 'user');)");
  EXPECT_THAT(ReadForeign(path, kNow), FailsWith(ErrorCode::kDamaged, "no beginning"));
}

// FLT-136
TEST_F(ImportTest, ReadsASessionOfAichat) {
  const std::vector<Stored> found = Read(Put("my talk.yaml", R"(model: ollama:llama3:8b
temperature: 0.5
compressed_messages:
- role: system
  content: Be terse.
- role: user
  content: first
- role: assistant
  content: '42'
messages:
- role: system
  content: |-
    Be terse.

    This is a summary.
- role: user
  content:
  - type: text
    text: look
  - type: image_url
    image_url:
      url: data:image/png;base64,QUJD
  - type: image_url
    image_url:
      url: /etc/passwd
- role: assistant
  content: "yes"
)"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, "aichat-my-talk");
  EXPECT_EQ(found[0].model, "ollama/llama3:8b");
  EXPECT_EQ(found[0].title, "first");
  EXPECT_EQ(found[0].created_at, kNow);
  EXPECT_EQ(Lines(found[0]),
            (std::vector<std::string>{"system: Be terse.", "user: first", "assistant: 42",
                                      "user: look\n[attachment /etc/passwd]", "assistant: yes"}));
}

// FLT-140: a conversation that was kept elsewhere comes back under its id.
TEST_F(ImportTest, ReadsAConversationOfOurs) {
  const std::vector<Stored> found =
      Read(Put("talk.json", R"({"id": "talk", "model": "m", "messages": []})"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, "talk");
}

TEST_F(ImportTest, NamesWhatItCannotRead) {
  EXPECT_THAT(ReadForeign(temp_.path() + "/none", kNow), FailsWith(ErrorCode::kNotFound, "none"));
  EXPECT_THAT(ReadForeign(Put("x.yaml", "a: 1\n"), kNow),
              FailsWith(ErrorCode::kDamaged, "neither the log of llm"));
  EXPECT_THAT(ReadForeign(Put("x.json", "{\"messages\": "), kNow),
              FailsWith(ErrorCode::kDamaged, "x.json: conversation x is malformed"));
  EXPECT_THAT(ReadForeign(Put("package.json", R"({"name": "x"})"), kNow),
              FailsWith(ErrorCode::kDamaged, "package.json: neither the log of llm"));
  EXPECT_THAT(ReadForeign(PutDatabase("CREATE TABLE t(a)"), kNow),
              FailsWith(ErrorCode::kDamaged, "not the log of llm"));
  EXPECT_THAT(ReadForeign(PutDatabase("CREATE TABLE conversations(id, name, model);"
                                      "INSERT INTO conversations VALUES('a', 'b', 'c');"
                                      "CREATE VIEW responses AS SELECT 'a' AS conversation_id"),
                          kNow),
              FailsWith(ErrorCode::kRefused, "it has the view responses"));
}

// Rows without end and values of any size do not come from a small file.
TEST_F(ImportTest, RefusesWhatIsMadeWhenItIsRead) {
  constexpr std::string_view kTalk =
      "CREATE TABLE conversations(id, name, model);"
      "INSERT INTO conversations VALUES('a', 'b', 'c');";
  EXPECT_THAT(
      ReadForeign(PutDatabase(std::string(kTalk) +
                              "CREATE VIEW message_tree AS WITH RECURSIVE r(x) AS (SELECT 1 UNION "
                              "ALL SELECT x + 1 FROM r) SELECT x AS id, 'a' AS conversation_id "
                              "FROM r;"
                              "CREATE VIRTUAL TABLE responses USING fts5(id, conversation_id, "
                              "content='message_tree', content_rowid='id')"),
                  kNow),
      FailsWith(ErrorCode::kRefused, "it has the virtual table responses"));
  EXPECT_THAT(ReadForeign(PutDatabase("DROP TABLE responses; DROP VIEW message_tree;"
                                      "CREATE TABLE responses(conversation_id, prompt GENERATED "
                                      "ALWAYS AS (hex(zeroblob(400000000))) VIRTUAL)"),
                          kNow),
              FailsWith(ErrorCode::kRefused, "it has the generated column prompt"));
  // A forged row of the schema, which claims that the virtual table is stored in a page.
  EXPECT_THAT(
      ReadForeign(PutDatabase("DROP TABLE responses;"
                              "CREATE VIRTUAL TABLE responses USING fts5(id, conversation_id);"
                              "PRAGMA writable_schema = ON;"
                              "UPDATE sqlite_master SET rootpage = 2 WHERE name = 'responses'"),
                  kNow),
      FailsWith(ErrorCode::kRefused, "it has the virtual table responses"));
}

// llm has indexes of its own over what it logs, and adds further ones.
TEST_F(ImportTest, LeavesIndexesAndViewsUnread) {
  const auto found = ReadForeign(
      PutDatabase("CREATE TABLE conversations(id, name, model);"
                  "CREATE TABLE responses(id, system, prompt, response, datetime_utc, model, "
                  "conversation_id);"
                  "INSERT INTO conversations VALUES('a', 'b', 'c');"
                  "INSERT INTO responses VALUES('r', '', 'p', 'q', '', '', 'a');"
                  "CREATE VIRTUAL TABLE turn_search_fts USING fts5(text);"
                  "CREATE VIEW message_tree AS SELECT 1"),
      kNow);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->size(), 1u);
}

// A text that is stored once and named 2,000 times would fill the memory.
TEST_F(ImportTest, CountsWhatIsReadAgain) {
  EXPECT_THAT(
      ReadForeign(
          PutDatabase(
              "CREATE TABLE conversations(id, name, model);"
              "INSERT INTO conversations VALUES('a', 'b', 'c');"
              "CREATE TABLE responses(id, system, prompt, response, datetime_utc, model, "
              "conversation_id);"
              "INSERT INTO responses VALUES('r', '', '', '', '', '', 'a');"
              "CREATE TABLE fragments(id INTEGER PRIMARY KEY, content TEXT);"
              "INSERT INTO fragments VALUES(1, hex(zeroblob(1000000)));"
              "CREATE TABLE prompt_fragments(response_id, fragment_id, \"order\");"
              "INSERT INTO prompt_fragments WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
              "FROM n WHERE i < 2000) SELECT 'r', 1, i FROM n"),
          kNow),
      FailsWith(ErrorCode::kTooLong, "more than 512 MiB"));
}

}  // namespace
}  // namespace dossier::chat
