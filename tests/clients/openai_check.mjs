// The official npm client `openai` against `dossier serve`: SRV-A10. By hand, since it needs Node and the package:
//
//   npm install openai                         (in the folder that it is run from)
//   node tests/clients/openai_check.mjs build/release/bin/dossier
//
// Starts a server of its own with scripted replies: models, chat whole and streamed, tools, a schema, files, responses
// whole, streamed, in the background, taken up again, continued and deleted, and what an error is to the client. Exit 1 if
// something is wrong. The Python client is tested by serve_test.py, everywhere.
import assert from "assert";
import {spawn} from "child_process";
import fs from "fs";
import {createRequire} from "module";
import os from "os";
import path from "path";
const require = createRequire(path.join(process.cwd(), "x.js"));
const OpenAI = require("openai").default || require("openai");
const home = fs.mkdtempSync(path.join(os.tmpdir(), "dossier-openai-"));
const script = path.join(home, "replies.json");
fs.writeFileSync(script, JSON.stringify([
  {purpose: "direct", when: "as JSON", reply: {n: 4}, times: "always"},
  {purpose: "direct", when: "call it", times: "always", tool_calls: [{name: "price", id: "t1", arguments: {item: "A1"}}]},
  {purpose: "direct", when: "be slow", delay: "1s", reply: "late", times: "always"},
  {purpose: "direct", reply: "hello", usage: {input: 10, output: 2}, times: "always"}]));
const server = spawn(process.argv[2], ["serve", "--bind", "127.0.0.1:0", "-m", "scripted", "--script", script],
  {env: {PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: path.join(home, "data")}, stdio: ["ignore", "ignore", "pipe"]});
const line = await new Promise((resolve) => server.stderr.once("data", (data) => resolve(String(data))));
const [, base, key] = line.match(/(http:\/\/127\.0\.0\.1:\d+)\/#key=(dsk_\w+)/);
const client = new OpenAI({baseURL: base + "/v1", apiKey: key, maxRetries: 0});
const ask = (content, more) => client.chat.completions.create({model: "scripted", messages: [{role: "user", content}], ...more});
const all = async (list) => { const found = []; for await (const one of list) found.push(one); return found; };
let bad = 0;
const check = async (what, test) => {
  try { await test(); console.log("ok   ", what); } catch (error) { bad += 1; console.log("WRONG", what, error.message); }
};

await check("models", async () => {
  const names = (await all(client.models.list())).map((model) => model.id);
  assert(names.includes("dossier") && names.includes("scripted"), names.join());
  assert.equal((await client.models.retrieve("scripted")).id, "scripted");
});
await check("chat", async () => {
  const whole = await ask("hi");
  assert.deepEqual([whole.choices[0].message.content, whole.choices[0].finish_reason, whole.usage.prompt_tokens], ["hello", "stop", 10]);
});
await check("chat, streamed", async () => {
  const chunks = await all(await ask("hi", {stream: true, stream_options: {include_usage: true}}));
  assert.equal(chunks.flatMap((chunk) => chunk.choices).map((choice) => choice.delta.content || "").join(""), "hello");
  assert.equal(chunks.at(-1).usage.completion_tokens, 2);
});
await check("tools", async () => {
  const tools = [{type: "function", function: {name: "price", parameters: {type: "object", properties: {}}}}];
  const [call] = (await ask("call it", {tools})).choices[0].message.tool_calls;
  assert.deepEqual([call.function.name, JSON.parse(call.function.arguments)], ["price", {item: "A1"}]);
});
await check("schema", async () => {
  const schema = {type: "object", properties: {n: {type: "integer"}}, required: ["n"]};
  const reply = await ask("as JSON", {response_format: {type: "json_schema", json_schema: {name: "n", schema}}});
  assert.deepEqual(JSON.parse(reply.choices[0].message.content), {n: 4});
});
await check("files", async () => {
  const file = await client.files.create({file: new File(["one two"], "a.txt"), purpose: "user_data"});
  assert.equal(file.filename, "a.txt");
  assert.equal(await (await client.files.content(file.id)).text(), "one two");
  assert.equal((await all(client.files.list())).length, 1);
  assert.equal((await client.files.retrieve(file.id)).bytes, 7);
  assert.equal((await client.files.delete(file.id)).deleted, true);
});
await check("responses", async () => {
  const first = await client.responses.create({model: "scripted", input: "hi", store: true});
  assert.deepEqual([first.output_text, first.status], ["hello", "completed"]);
  const next = await client.responses.create({model: "scripted", input: "and now?", previous_response_id: first.id});
  assert.equal(next.previous_response_id, first.id);
  assert.equal((await client.responses.retrieve(first.id)).output_text, "hello");
  await client.responses.delete(first.id);
  await assert.rejects(client.responses.retrieve(first.id), OpenAI.NotFoundError);
});
await check("responses, streamed", async () => {
  const events = await all(await client.responses.create({model: "scripted", input: "hi", stream: true}));
  assert.deepEqual([events[0].type, events.at(-1).type], ["response.created", "response.completed"]);
  assert.deepEqual(events.map((event) => event.sequence_number), [...events.keys()]);
});
await check("responses in the background, taken up again", async () => {
  const begun = await client.responses.create({model: "scripted", input: "be slow", background: true, store: true});
  assert.equal(begun.status, "queued");
  const events = await all(await client.responses.retrieve(begun.id, {stream: true, starting_after: 0}));
  assert.equal(events[0].sequence_number, 1);
  assert.equal(events.at(-1).response.output[0].content[0].text, "late");
});
await check("errors", async () => {
  await assert.rejects(client.chat.completions.create({model: "none", messages: [{role: "user", content: "x"}]}),
    (error) => error instanceof OpenAI.NotFoundError && error.code === "model_not_found");
  await assert.rejects(ask("x", {n: 2}), (error) => error instanceof OpenAI.BadRequestError && error.param === "n");
  await assert.rejects(new OpenAI({baseURL: base + "/v1", apiKey: "dsk_wrong", maxRetries: 0}).models.list(), OpenAI.AuthenticationError);
});
server.kill();
fs.rmSync(home, {recursive: true, force: true});
console.log(bad ? `${bad} things are wrong` : "the client finds all that it looks for");
process.exit(bad ? 1 : 0);
