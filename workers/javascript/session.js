// One session: its names, and a block from its code to its result.

let features = {};
const blocks = new MapClass();  // number: {code, names of the last statement}
const vars = {};                // __vars
let initial = new SetClass();   // names of the global object before any block

const reserved = {
  __proto__: null, print, llm_query, llm_query_batched, llm_query_with_media, map_llm, sql, budget,
  SUBMIT(request) { submit(request); },
};
const functionsOfNode = {
  __proto__: null, require: "nothing can be loaded", process: "there is no process", fetch: "there is no network",
  load: "nothing can be loaded", read: "files cannot be read", quit: "SUBMIT ends the run",
  FINAL: "use SUBMIT({answer: text})", FINAL_VAR: 'use SUBMIT({variable: "name"})', context: "it is __vars.context",
};

const fix = (name, get) => {
  defineProperty(global, name, {
    __proto__: null, enumerable: false, configurable: false, get,
    set() { throw new TypeErrorClass(`${name} belongs to the session: use another name for your own value`); },
  });
};
for (const name in reserved) fix(name, () => reserved[name]);
// Adds a function of the session that only some runs have.
const give = (name, run) => {
  reserved[name] = run;
  fix(name, () => run);
};
let theDoc, theRecords, theRows;
fix("doc", () => theDoc);
fix("records", () => rowsOrNothing() ?? nothing());
fix("__vars", () => vars);
hide(global, "console", console);
hide(global, "estimate", estimate);
hide(global, "cite", cite);
hide(global, "reduce_llm", reduce_llm);
const nothing = () => { throw noRecords(); };
const rowsOrNothing = () => {
  if (theRows === undefined) {
    theRows = new Rows();
    theRecords = theRows.some ? makeRecords(theRows, 0, theRows.length) : undefined;
  }
  return theRecords;
};

// Math.random by the run's seed (xoshiro128**).
const seedRandom = (seed) => {
  let left = TextOf(seed), state = [1, 2, 3, 4];
  for (let i = 0; i < left.length; i++) state[i % 4] = imul(state[i % 4] ^ codeAt(left, i), 0x9e3779b1) ^ state[(i + 1) % 4] >>> 3;
  const turn = (x, k) => x << k | x >>> 32 - k;
  const next = () => {
    const result = imul(turn(imul(state[1], 5), 7), 9), t = state[1] << 9;
    state[2] ^= state[0]; state[3] ^= state[1]; state[1] ^= state[2]; state[0] ^= state[3];
    state[2] ^= t; state[3] = turn(state[3], 11);
    return result >>> 0;
  };
  for (let i = 0; i < 16; i++) next();
  hide(Math, "random", function random() { return ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992; });
};

const metas = () => {
  const list = [];
  for (let i = 0; i < sources.length; i++) push(list, sources[i].meta);
  return list.length === 1 ? list[0] : list;
};
const bytesInAll = () => {
  let bytes = 0;
  for (let i = 0; i < sources.length; i++) bytes += sources[i].bytes;
  return bytes;
};
// The text, or a text for each document; the view where one string cannot hold it.
const makeContext = (from = sources) => {
  const list = [];
  for (let i = 0; i < from.length; i++) {
    const { units, bytes, index } = from[i];
    if (units > LONGEST || bytes > features.context_string_max) {
      note(`__vars.context is the view doc: the text has ${group(units)} UTF-16 units in ${group(bytes)} bytes; a string may have `
        + `${group(LONGEST)} units and here ${group(features.context_string_max)} bytes. Use doc.slice(a, b), doc.grep(pattern), doc.chunks(size).`);
      return theDoc;
    }
    push(list, index);
  }
  for (let i = 0; i < list.length; i++) list[i] = host.whole(list[i]);
  return list.length === 1 ? list[0] : list;
};
const fillVars = () => {
  put(vars, "query", features.question ?? "");
  const lazy = (name, make) => defineProperty(vars, name, {
    __proto__: null, enumerable: true, configurable: true,
    get() { const value = make(); put(vars, name, value); return value; },
    set(value) { put(vars, name, value); },
  });
  lazy("context", () => makeContext());
  for (let i = 0; questions.length > 1 && i <= question; i++) {
    lazy(`context_${i}`, () => makeContext(sourcesOf(questions[i])));
    if (i < question) lazy(`history_${i}`, () => host.ask("history", { question: i }, []).text);
  }
  put(vars, "contextMeta", metas());
};

// Of a session: which documents belong to which question, the newest last.
let allSources = [], questions = [], question = 0;
const sourcesOf = ({ first, count }) => {
  const list = [];
  for (let i = first; i < first + count; i++) push(list, allSources[i]);
  return list;
};
const takeQuestion = () => {
  sources = sourcesOf(questions[question]);
  theRows = theRecords = undefined;
  const segments = [];
  for (let i = 0; i < sources.length; i++) push(segments, segment(sources[i], 0, sources[i].units));
  theDoc = new Doc(segments);
  seedRandom(questions[question].seed);
  fillVars();
};
hide(global, "_dossier_question", (number) => {
  const names = keysOf(vars);
  for (let i = 0; i < names.length; i++) if (exec(/^(?:context|history)_\d+$/, names[i])) delete vars[names[i]];
  question = number;
  takeQuestion();
});

const start = () => {
  features = host.features();
  const list = host.contexts();
  allSources = [];
  for (let i = 0; i < list.length; i++) push(allSources, { __proto__: null, index: i, ...list[i] });
  questions = features.questions ?? [{ first: 0, count: allSources.length, seed: features.seed }];
  question = questions.length - 1;
  if (features.out_dir === true) give("save_file", save_file);
  if (features.memory === true) for (const name in memoryFunctions) give(name, memoryFunctions[name]);
  const tools = features.tools ?? [];
  for (let i = 0; i < tools.length; i++) give(tools[i].name, toolOf(tools[i]));
  takeQuestion();
  initial = setOf(getOwnPropertyNames(global));
};

// The names that blocks made, without ours.
const ownNames = () => {
  const names = getOwnPropertyNames(global), list = [];
  for (let i = 0; i < names.length; i++) if (!setHas(initial, names[i])) push(list, names[i]);
  return list;
};
const givenVars = { __proto__: null, query: true, context: true, contextMeta: true };
const valueOfName = (name) => {
  if (hasOwn(vars, name)) return [name === "context" || name === "query" ? vars[name] : own(vars, name)];
  if (hasOwn(global, name) && !(name in reserved)) return [own(global, name)];
  return undefined;
};
const nearest = (name) => {
  const known = addAll(ownNames(), keysOf(vars)), scored = [];
  for (let i = 0; i < known.length; i++) {
    const low = lower(known[i]), wanted = lower(name);
    let common = 0;
    while (common < low.length && common < wanted.length && low[common] === wanted[common]) common++;
    push(scored, [-common + Math.abs(low.length - wanted.length) / 10, known[i]]);
  }
  sort(scored, (a, b) => a[0] - b[0]);
  const list = [];
  for (let i = 0; i < min(scored.length, 3); i++) push(list, scored[i][1]);
  return list;
};

const answerText = (value) => {
  if (typeof value === "string") return value;
  try { const text = toJson(value); if (text !== undefined) return text; } catch { /* cycles, BigInt */ }
  return show(value);
};
const submit = (request) => {
  const fits = features.schema !== undefined;  // the answer is data that has to fit a schema
  const takes = `{${fits ? "value: data" : 'answer: "text"'}} and {variable: "name"}`;
  const wrong = (what) => { throw new TypeErrorClass(`SUBMIT: ${what}. It takes exactly one of ${takes}`); };
  const asJson = (value, what) => {
    let text;
    try { text = toJson(value); } catch { /* cycles, BigInt */ }
    if (text === undefined) wrong(`${what} holds ${cutText(show(value), 200)}, which JSON cannot hold`);
    return text;
  };
  if (typeof request === "string") request = { answer: request };
  if (request === null || typeof request !== "object") wrong("it was called without an object");
  const names = ownKeys(request);
  for (let i = 0; i < names.length; i++) {
    if (names[i] === "value" && !fits) wrong("`value` needs a schema, and this run has none");
    if (names[i] !== "answer" && names[i] !== "variable" && names[i] !== "value") wrong(`there is no field ${show(names[i])}`);
  }
  if (names.length !== 1) wrong(names.length === 0 ? "both fields are missing" : "both fields are given");
  if (names[0] === "value") return host.hand("submit", asJson(own(request, "value"), "`value`"));
  if (names[0] === "answer") {
    const answer = own(request, "answer");
    if (typeof answer !== "string") wrong(`the answer must be a text, and this is ${cutText(show(answer), 200)}`);
    return host.hand("submit", answer);
  }
  const name = own(request, "variable");
  if (typeof name !== "string" || trim(name) === "") wrong("`variable` is the name of a variable, a text that is not empty");
  const found = valueOfName(trim(name));
  if (found === undefined) {
    const near = nearest(trim(name));
    wrong(`there is no variable ${quoted(trim(name))}${near.length > 0 ? `; nearest: ${join(near, ", ")}` : ""}`);
  }
  if (fits && typeof found[0] !== "string") return host.hand("submit", asJson(found[0], `the variable ${trim(name)}`));
  if (typeof found[0] !== "string") wrong(`the variable ${trim(name)} holds ${cutText(show(found[0]), 200)}; the answer must be a text, so make one of it`);
  return host.hand("submit", found[0]);
};

// Runs a block: a promise of its value, or nothing where it ends here (end() says how).
let current;
const begin = (code, number) => {
  notes = [];
  printed = false;
  current = { __proto__: null, code, number, file: `<block ${number}>`, names: [], last: [], typed: [], failure: undefined, refused: "" };
  mapSet(blocks, number, code);
  let plan;
  try {
    plan = rewrite(code);
  } catch (error) {
    current.failure = { error };
    return undefined;
  }
  for (let i = 0; i < plan.names.length; i++) {
    const name = plan.names[i];
    if (name in reserved || name === "doc" || name === "records" || name === "__vars") {
      const holds = name === "doc" || name === "records" || name === "__vars";
      current.refused = `The block was not run: \`${name}\` ${holds ? "already holds the data" : "is a function of the session"}. Send the whole block again with another name.`;
      return undefined;
    }
  }
  current.names = plan.names;
  current.last = plan.last;
  current.typed = typedBy(plan.body_);
  try {
    for (let i = 0; i < plan.functions.length; i++) host.evaluate(plan.functions[i].text, current.file, plan.functions[i].line);
    return host.evaluate(plan.body(), current.file, 1);
  } catch (error) {
    current.failure = { error };
    return undefined;
  }
};

const lineOfStack = (error, file) => {
  const stack = own(error, "stack") ?? stackOf(error);
  if (typeof stack !== "string") return 0;
  const at = indexOf(stack, `${file}:`);
  const found = at < 0 ? null : exec(/^\d+/, sliceText(stack, at + file.length + 1, at + file.length + 12));
  return found === null ? 0 : +found[0];
};
const getStack = getOwnPropertyDescriptor(ErrorClass.prototype, "stack")?.get;
const stackOf = (error) => {
  try { return apply(getStack, error, []); } catch { return undefined; }
};
const sourceLine = (line) => {
  const lines = split(current.code, "\n");
  return line > 0 && line <= lines.length ? trim(lines[line - 1]) : "";
};
// The frames of code; ours are left out.
const traceOf = (error) => {
  const stack = stackOf(error);
  if (typeof stack !== "string") return "";
  const frames = split(stack, "\n"), kept = [], lines = split(current.code, "\n").length;
  for (let i = 0; i < frames.length && kept.length < 20; i++) {
    const found = exec(/^(.*)@<block (\d+)>:(\d+):(\d+)$/, frames[i]);
    // Behind the last line stands what runs the block.
    if (found !== null && !(+found[2] === current.number && +found[3] > lines)) push(kept, `  at ${found[1] === "" ? "" : `${found[1]} `}block ${found[2]}, line ${found[3]}`);
  }
  return join(kept, "\n");
};
const hintOf = (type, message) => {
  const missing = type === "ReferenceError" ? exec(/^(\S+) is not defined$/, message) : null;
  if (missing === null) return "";
  const name = missing[1];
  if (hasOwn(vars, name)) return `; it is __vars.${name}`;
  const known = own(functionsOfNode, name);
  if (known !== undefined) return `; ${known}`;
  return name === "require" || name === "module" ? "; nothing can be loaded" : "";
};
const errorOf = (error) => {
  const found = describe(error), { type } = found;
  const place = host.errorPlace(error);
  let line = own(error, "line");
  if (!isInteger(line)) line = place !== undefined && place[1] === current.file ? place[0] : lineOfStack(error, current.file);
  const message = found.message + hintOf(type, found.message);
  const trace = traceOf(error);
  return { type, message, line, source: cutText(sourceLine(line), 500), traceback: trace === "" ? "" : `${trace}\n` };
};

const deadlineOfListing = 50;  // milliseconds
const typeOf = (value) => (value === null ? "null" : isArray(value) ? "array" : typeof value === "object"
  ? (host.isProxy(value) ? "proxy" : classOf(value) || "object") : typeof value);
const listVariables = () => {
  const list = [], names = ownNames(), own_ = keysOf(vars), began = host.now();
  for (let i = 0; i < own_.length; i++) if (!(own_[i] in givenVars)) push(names, own_[i]);
  for (let i = 0; i < names.length && list.length < 100; i++) {
    const found = valueOfName(names[i]);
    if (found === undefined) continue;
    const late = host.now() - began > deadlineOfListing;
    const value = found[0];
    const size = typeof value === "string" || isArray(value) ? value.length : 0;
    push(list, { name: names[i], type: typeOf(value), size, preview: late ? "" : cutText(previewOf(value), 200) });
  }
  return list;
};
const previewOf = (value) => {
  // A part of a text that was joined from others would first make one of them all.
  if (typeof value === "string") return value.length > 1e6 ? `${group(value.length)} characters` : sliceText(value, 0, 200);
  if (isArray(value) && value.length > 100 && viewOf(value) === undefined) return `[${group(value.length)} items]`;
  return show(value);
};
const shownLast = (value) => {
  if (value !== undefined) {
    const promise = host.promise(value);
    return `Out: ${cutText(promise === undefined && typeof value !== "string" ? show(value) : showOrText(value), 2000)}`;
  }
  if (printed) return "";
  const lines = [];
  for (let i = 0; i < current.last.length; i++) {
    const found = valueOfName(current.last[i]);
    if (found !== undefined) push(lines, `${current.last[i]}: ${cutText(show(found[0]), 2000)}`);
  }
  return join(lines, "\n");
};

const end = (how, promise, number, line, openCalls) => {
  const result = { status: "ok", notes, vars: listVariables(), assigned: [], last: "", error: null, refused: current.refused,
    typed: current.typed ?? [] };
  if (current.typed === undefined) result.touches_data = false;
  for (let i = 0; i < current.names.length; i++) if (hasOwn(global, current.names[i])) push(result.assigned, current.names[i]);
  const stopped = (type, message) => ({ type, message, line, source: cutText(sourceLine(line), 500), traceback: "" });
  if (current.refused !== "") result.status = "not_run";
  else if (current.failure !== undefined) result.error = errorOf(current.failure.error);
  else if (how === "stopped") {
    result.status = "interrupted";
    result.error = stopped("Interrupted", "the block was stopped");
    return result;
  } else if (how === "memory") {
    result.error = stopped("MemoryError", `the objects of the session take more than the limit of ${group(features.limits.memory)} bytes; let go of what is not needed (delete __vars.name, name = null) and do the work in smaller pieces`);
  } else if (how === "stuck") {
    result.error = stopped("Error", "the block awaits a promise that nothing will settle: no request, no timer is open");
  } else if (how === "settled") {
    const state = host.promise(promise);
    if (state[0] === "rejected") result.error = errorOf(state[1]);
    else result.last = shownLast(state[1]);
  }
  if (result.error !== null) result.status = "error";
  if (openCalls > 0 && how !== "handed") {
    note(`${group(openCalls)} model request${openCalls === 1 ? " was" : "s were"} not awaited and came to nothing: write await llm_query(...).`);
  }
  if (result.status === "ok" && !printed && result.last === "" && how === "settled") {
    note("No output: nothing was printed. Use print(...) to see a value.");
  }
  return result;
};

const check = (code) => {
  let body;
  try {
    body = statementsOf(code);
  } catch (error) {
    const found = describe(error);
    return { ok: false, error: { type: found.type, message: found.message, line: own(error, "line") ?? 0 }, incomplete: own(error, "incomplete") === true };
  }
  let effect = false;
  for (let i = 0; i < body.length; i++) {
    const node = body[i];
    const inner = node.type === "ExpressionStatement" ? node.expression.type : node.type;
    effect = effect || (inner !== "Identifier" && inner !== "Literal" && inner !== "BinaryExpression"
      && inner !== "SequenceExpression" && inner !== "EmptyStatement" && inner !== "LabeledStatement" && inner !== "MemberExpression");
  }
  return { ok: true, has_effect: effect, computes: false };
};

const get = (name, most) => {
  const found = valueOfName(name);
  if (found === undefined || typeof found[0] === "function") {
    return { found: false, text: "", nearest: found === undefined ? nearest(name) : [] };
  }
  let text = answerText(found[0]);
  while (host.utf8Length(text) > most) text = sliceText(text, 0, floor(text.length * most / host.utf8Length(text)));
  return { found: true, text, nearest: [] };
};

const reset = (keep) => {
  const kept = setOf(keep), names = ownNames(), own_ = keysOf(vars);
  for (let i = 0; i < names.length; i++) if (!setHas(kept, names[i])) delete global[names[i]];
  for (let i = 0; i < own_.length; i++) if (!setHas(kept, own_[i])) delete vars[own_[i]];
  mapEach(fixed, (_, name) => { if (!setHas(kept, name)) mapDelete(fixed, name); });
  seedRandom(features.seed);
  fillVars();
};

return { start, begin, end, check, get, reset, makeError };
