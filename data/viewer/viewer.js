// The viewer of `dossier serve`: runs, their calls and turns, what was sent and what came back.
// Texts of files, code and models enter as text alone, never as HTML. The key comes in the address's
// fragment, which no server sees, and moves into this tab's session storage.
"use strict";

const kShown = 100;          // entries of a list in the page at once; the rest comes on request
const kRenewed = 3000;       // milliseconds between looks for new runs
const kLongText = 20000;     // characters of a text that are shown at first
const main = document.getElementById("main");
const said = document.getElementById("said");
let view = 0;                // counts views, so that what belongs to an older one is dropped
let follow = null;           // the reader of a live run
let shown = null;            // the run in the page, which can go to another part of itself

const say = (text) => { said.textContent = text; };

// Characters that move, colour or hide others are shown as what they are.
const kHidden = /[\u0000-\u0008\u000b-\u001f\u007f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;
const visible = (text) => text.replace(kHidden, (one) => {
  const code = one.codePointAt(0);
  return code < 0x20 ? (code === 0x0d ? "" : String.fromCodePoint(0x2400 + code)) : "[U+" + code.toString(16).toUpperCase().padStart(4, "0") + "]";
});

// element("p", {class: "x"}, "text", child, …)
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "click") made.addEventListener("click", value);
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined) continue;
    made.append(child instanceof Node ? child : document.createTextNode(visible(String(child))));
  }
  return made;
}

function takeKey() {
  const found = location.hash.match(/^#key=([^/]+)(\/.*)?$/);
  if (!found) return;
  sessionStorage.setItem("key", decodeURIComponent(found[1]));
  history.replaceState(null, "", location.pathname + "#" + (found[2] || "/"));
}

const headers = () => {
  const key = sessionStorage.getItem("key");
  return key ? {Authorization: "Bearer " + key} : {};
};

async function ask(path, options) {
  const response = await fetch(path, {headers: headers(), ...options});
  if (response.ok) return response;
  let message = response.status + " " + response.statusText;
  try { message = (await response.json()).error.message; } catch { /* not ours */ }
  throw Object.assign(new Error(message), {status: response.status});
}
const askJson = async (path, options) => exact(await (await ask(path, options)).text());

// JSON read without loss: a whole number that JavaScript would round, as a seed of 64 bits, becomes its text.
function exact(text) {
  return JSON.parse(text.replace(/"(?:[^"\\]+|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (one) =>
    /^-?\d{16,}$/.test(one) && !Number.isSafeInteger(Number(one)) ? '"' + one + '"' : one));
}

const count = (number) => (number || 0).toLocaleString("en");
const seconds = (ms) => (ms / 1000).toFixed(1) + " s";
const when = (time) => time.replace("T", " ").slice(0, 19);
const statusNode = (status) => element("span", {class: "status " + (status === "final" || status === "done" ? "good"
  : status === "failed" || status === "none" ? "bad" : "")}, status);

function askForKey(problem) {
  const input = element("input", {id: "key", type: "password", autocomplete: "off"});
  const form = element("form", {}, element("label", {for: "key"}, "Key of this server: "), input, " ",
    element("button", {}, "Go on"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem("key", input.value.trim());
    show();
  });
  main.replaceChildren(element("h1", {}, "A key is needed"), element("p", {class: "quiet"}, problem), form);
  input.focus();
}

// ---- the list of runs

// New runs come by themselves: the newest page is asked for again while it is looked at.
async function showRuns(text, mine) {
  document.getElementById("q").value = text;
  const body = element("tbody");
  const more = element("button", {type: "button", hidden: ""}, "More");
  main.replaceChildren(element("h1", {}, text ? "Runs with “" + text + "”" : "Runs"),
    element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Runs"},
      element("table", {}, element("thead", {}, element("tr", {},
        ...["Question", "Status", "Begun", "Model", "Run"].map((name) => element("th", {scope: "col"}, name)))),
        body)), more);
  let next = "";
  const cells = new Map();  // of each run: where its status stands
  const page = (cursor) => {
    const query = new URLSearchParams({limit: "50", q: text});
    if (cursor) query.set("cursor", cursor);
    return askJson("/api/v1/runs?" + query);
  };
  const rowOf = (run) => {
    const status = element("td", {}, statusNode(run.status));
    cells.set(run.run, {status, now: run.status});
    return element("tr", {}, element("td", {class: "question"}, element("a", {href: "#/runs/" + encodeURIComponent(run.run)}, run.question || run.run)),
      status, element("td", {}, when(run.started)), element("td", {}, run.model), element("td", {class: "quiet"}, run.run));
  };
  const load = async () => {
    const got = await page(next);
    if (mine !== view) return;
    body.append(...got.runs.filter((run) => !cells.has(run.run)).map(rowOf));
    while (body.rows.length > 2 * kShown) body.rows[0].remove();
    next = got.next || "";
    more.hidden = !next;
    say(body.rows.length + (body.rows.length === 1 ? " run shown" : " runs shown"));
  };
  const renew = async () => {
    if (mine !== view) return;
    if (!document.hidden) {
      const got = await page("").catch(() => ({runs: []}));
      if (mine !== view) return;
      body.prepend(...got.runs.filter((run) => !cells.has(run.run)).map(rowOf));
      for (const run of got.runs) {
        const known = cells.get(run.run);
        if (known.now === run.status) continue;
        known.now = run.status;
        known.status.replaceChildren(statusNode(run.status));
      }
    }
    setTimeout(renew, kRenewed);
  };
  more.addEventListener("click", () => load().catch((error) => say(error.message)));
  await load();
  setTimeout(renew, kRenewed);
}

// ---- small pieces

// A text of an event: in place, or stored by its hash.
function textNode(run, body, label) {
  const box = element("pre", {tabindex: "0", "aria-label": label || null, role: label ? "group" : null});
  const fill = (raw) => {
    const text = visible(raw);
    box.textContent = text.length > kLongText ? text.slice(0, kLongText) : text;
    if (text.length <= kLongText) return;
    const rest = element("button", {type: "button"}, "Show all " + count(text.length) + " characters");
    rest.addEventListener("click", () => { box.textContent = text; rest.remove(); });
    box.after(rest);
  };
  if (body && body.left_out) fill(body.sha256 ? "(not kept)" : "(deleted)");
  else if (typeof body === "string") fill(body);
  else if (body && typeof body.text === "string") fill(body.text);
  else if (body && body.sha256) {
    box.textContent = "…";
    ask("/api/v1/blobs/" + body.sha256 + "?run=" + encodeURIComponent(run)).then((got) => got.text())
      .then(fill).catch((error) => { box.textContent = error.message; });
  }
  return box;
}

const isEmpty = (value) => value === null || value === undefined || value === "" ||
  (Array.isArray(value) && !value.length);
const plain = (value) => typeof value === "object" ? JSON.stringify(value) : String(value);
// What a warning says besides its name, for a person: "by map_llm, failed 2".
function told(value) {
  if (Array.isArray(value)) return value.map(told).join(", ");
  if (!value || typeof value !== "object") return String(value);
  return Object.entries(value).filter(([, one]) => !isEmpty(one)).map(([key, one]) => key.replaceAll("_", " ") + " " + told(one)).join(", ");
}

function pairs(object) {
  const list = element("dl");
  for (const [key, value] of Object.entries(object)) {
    if (isEmpty(value)) continue;
    list.append(element("dt", {}, key), element("dd", {}, value instanceof Node ? value : plain(value)));
  }
  return list;
}

// A table that scrolls by itself, so that the page never does.
function table(name, columns, rows) {
  // A heading stands over its numbers.
  const numbers = columns.map((_, at) => rows.some((row) => typeof row[at] === "number"));
  return element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": name},
    element("table", {}, element("thead", {}, element("tr", {},
      columns.map((column, at) => element("th", {scope: "col", class: numbers[at] ? "number" : null}, column)))),
    element("tbody", {}, rows.map((row) => element("tr", {},
      row.map((cell) => element("td", {class: typeof cell === "number" ? "number" : null},
        typeof cell === "number" ? count(cell) : isEmpty(cell) ? "" : cell)))))));
}

// Many things, a part of them at a time: what was shown before goes, so that the page stays small.
function paged(box, all, make) {
  const list = box.tagName === "SECTION" ? element("div") : box;
  if (list !== box) box.append(list);
  if (all.length <= kShown) {
    list.append(...all.map(make));
    return box;
  }
  let from = 0;
  const place = element("span", {class: "quiet"});
  const earlier = element("button", {type: "button"}, "Earlier"), later = element("button", {type: "button"}, "Later");
  const draw = (at) => {
    from = Math.max(0, Math.min(at, all.length - 1));
    const shown = all.slice(from, from + kShown);
    list.replaceChildren(...shown.map(make));
    place.textContent = count(from + 1) + " to " + count(from + shown.length) + " of " + count(all.length);
    earlier.disabled = from === 0;
    later.disabled = from + kShown >= all.length;
  };
  earlier.addEventListener("click", () => draw(from - kShown));
  later.addEventListener("click", () => draw(from + kShown));
  draw(0);
  return element("div", {}, element("div", {class: "actions"}, earlier, later, place), box);
}

const section = (title, ...children) => element("section", {class: "part"}, element("h3", {}, title), ...children);

// What opens when it is wanted; its content is made then.
function folded(title, make, open) {
  const box = element("details", {}, element("summary", {}, title));
  const fill = () => { if (box.childElementCount === 1) box.append(...[make()].flat()); };
  if (open) { box.open = true; fill(); }
  box.addEventListener("toggle", () => { if (box.open) fill(); });
  return box;
}

const usd = (nano) => nano === null || nano === undefined ? null : "$" + (nano / 1e9).toFixed(4);
const tokensOf = (data) => data.input === undefined ? null :
  count(data.input) + " in, " + count(data.output) + " out" + (data.cached ? ", " + count(data.cached) + " cached" : "");
const lengthOf = (body) => typeof body === "string" ? body.length : body && (body.bytes || (body.text || "").length) || 0;

const isBody = (value) => value && typeof value === "object" && (value.sha256 || value.left_out || typeof value.text === "string");

// Any event, whatever it is about.
function eventNode(run, event) {
  const node = element("article", {class: "event"}, element("h4", {}, event.type, " ",
    element("span", {class: "quiet"}, (event.time || "").slice(11, 23))));
  const short = {};
  const texts = [];
  for (const [key, value] of Object.entries(event.data || {})) {
    if (isBody(value) || (typeof value === "string" && (value.includes("\n") || value.length > 120))) texts.push([key, value]);
    else short[key] = value;
  }
  if (Object.keys(short).length) node.append(pairs(short));
  for (const [key, value] of texts) node.append(element("p", {class: "quiet"}, key), textNode(run, value, key));
  return node;
}

// ---- what the events of a run say, as calls with turns

const kOfTurns = new Set(["root", "direct", "extract", "repair"]);
const kNotes = {
  "warning": (data) => "Warning: " + String(data.code).replaceAll("_", " ") + (data.data ? ": " + told(data.data) : ""),
  "answer.refused": (data) => "Answer refused (" + data.gate + "): " + data.reason,
  "limit.reached": (data) => "Limit reached: " + (data.reason || data.limit),
  "compaction.done": () => "Old turns were compacted",
  "run.resumed": () => "The run was resumed here",
  "run.forked": (data) => "Forked from " + (data.from || "(deleted)") + " at turn " + data.turn,
  "replay.diverged": () => "From here on it went another way than before",
};
// What a run went through, which is nobody's fault.
const kCourse = new Set(["compaction.done", "run.resumed", "run.forked"]);

class Story {
  constructor() {
    this.events = [];
    this.calls = new Map();
    this.messages = new Map();  // by number
    this.notes = [];    // before the first turn; those of a turn are with it
    this.started = {};
    this.mode = {};
    this.finished = null;
    this.hint = null;
    this.callOf(0);
  }

  callOf(number) {
    if (!this.calls.has(number)) this.calls.set(number, {number, turns: [], requests: new Map(), blocks: 0, others: []});
    return this.calls.get(number);
  }

  // The turn that is at work; what comes before the first one has none.
  turnOf(call) {
    if (!call.turns.length) call.turns.push(this.newTurn(call, 0));
    return call.turns[call.turns.length - 1];
  }
  newTurn(call, number) {
    return {call: call.number, number, sent: null, reply: null, failed: null, blocks: [], requests: [], notes: [],
      children: [], others: [], begun: ""};
  }

  add(event) {
    this.events.push(event);
    const data = event.data || {};
    const call = this.callOf(event.call || 0);
    if (kNotes[event.type]) {
      const note = {text: kNotes[event.type](data), course: kCourse.has(event.type)};
      (call.turns.length ? this.turnOf(call).notes : this.notes).push(note);
      if (event.type === "run.resumed" || event.type === "run.forked") this.finished = null;
      return;
    }
    const read = this["on_" + event.type.replace(".", "_")];
    if (read) read.call(this, event, data, call);
    else (call.turns.length ? this.turnOf(call).others : call.others).push(event);
  }

  on_run_started(event, data) { this.started = data; }
  on_mode_decided(event, data) { this.mode = data; }
  on_run_finished(event, data) { this.finished = data; }
  on_call_started(event, data, call) {
    Object.assign(call, {parent: data.parent || 0, about: data, status: "running"});
    this.turnOf(this.callOf(data.parent || 0)).children.push(event.call);
  }
  on_call_finished(event, data, call) { call.status = data.status || "done"; call.result = data; }
  on_turn_started(event, data, call) {
    const known = call.turns.length ? call.turns[call.turns.length - 1] : null;
    if (known && known.number === 0 && !known.sent && !known.blocks.length) call.turns.pop();
    const turn = this.newTurn(call, data.turn ?? call.turns.length + 1);
    turn.begun = event.time;
    if (known && known !== call.turns[call.turns.length - 1]) {
      turn.notes = known.notes;
      turn.others = known.others;
    }
    call.turns.push(turn);
  }
  messageOf(one) {
    if (typeof one === "number") return this.messages.get(one) || {n: one, role: "message", body: ""};
    if (one && one.n) this.messages.set(one.n, one);
    return one;
  }
  on_request_sent(event, data, call) {
    if (data.hint) this.hint = data.hint;
    if (data.request === undefined && kOfTurns.has(data.purpose)) {
      let turn = this.turnOf(call);
      if (turn.sent && (data.turn ?? turn.number) !== turn.number) {
        turn = this.newTurn(call, data.turn);
        call.turns.push(turn);
      }
      if (turn.number === 0 && data.turn) turn.number = data.turn;
      turn.begun = turn.begun || event.time;
      turn.sent = {...data, messages: (Array.isArray(data.messages) ? data.messages : []).map((one) => this.messageOf(one))};
      return;
    }
    const turn = this.turnOf(call);
    const request = {id: data.request ?? "b" + event.seq, call: call.number, sent: data, begun: event.time, reply: null, failed: null,
      messages: Array.isArray(data.messages) ? data.messages.map((one) => this.messageOf(one)) : null};
    call.requests.set(data.request ?? data.purpose, request);
    turn.requests.push(request);
  }
  requestOf(call, data) { return call.requests.get(data.request ?? data.purpose); }
  on_reply_received(event, data, call) {
    if (data.request === undefined && (data.purpose === undefined || kOfTurns.has(data.purpose))) {
      this.turnOf(call).reply = {...data, time: event.time};
      return;
    }
    let request = this.requestOf(call, data);
    if (!request) { this.on_request_sent(event, data, call); request = this.requestOf(call, data); }
    if (request) request.reply = {...data, time: event.time};
  }
  on_request_failed(event, data, call) {
    const request = data.request === undefined && kOfTurns.has(data.purpose || "root") ? null : this.requestOf(call, data);
    if (request) request.failed = data;
    else this.turnOf(call).failed = data;
  }
  on_code_extracted() {}
  on_bridge_call() {}
  on_block_started(event, data, call) {
    this.turnOf(call).blocks.push({number: data.block, code: data.code, status: "running"});
  }
  on_block_done(event, data, call) {
    const blocks = this.turnOf(call).blocks;
    let block = blocks.find((one) => one.number === data.block);
    if (!block) { block = {number: data.block}; blocks.push(block); }
    Object.assign(block, data);
  }
  on_answer_offered(event, data, call) { this.turnOf(call).offered = data; }
  on_answer_accepted(event, data, call) { this.turnOf(call).accepted = data; }
}

function turnSum(turn) {
  const sum = {calls: 0, input: 0, output: 0, cached: 0, nano: null, failed: 0};
  for (const one of [turn, ...turn.requests]) {
    if (one.failed) sum.failed += 1;
    if (!one.reply) continue;
    if (one.reply.from_cache) continue;
    sum.calls += 1;
    sum.input += one.reply.input || 0;
    sum.output += one.reply.output || 0;
    sum.cached += one.reply.cached || 0;
    if (one.reply.nano_usd !== undefined && one.reply.nano_usd !== null) sum.nano = (sum.nano || 0) + one.reply.nano_usd;
  }
  return sum;
}

// ---- the tree of calls, turns and requests: only the rows that are seen are in the page

const kRow = 34;  // pixels of a row; as .row says

class Tree {
  constructor(run, story, open) {
    this.run = run;
    this.story = story;
    this.open = open;
    this.expanded = new Map();  // by key; unset: the root call's turns are shown, all else is folded
    this.rows = [];
    this.chosen = "";
    this.focused = 0;
    this.box = element("div", {role: "tree", "aria-label": "Calls and turns of this run", class: "tree"});
    this.space = element("div", {class: "space", role: "none"});
    this.box.append(this.space);
    this.box.addEventListener("scroll", () => this.draw());
    this.box.addEventListener("keydown", (event) => this.press(event));
    this.box.addEventListener("click", (event) => {
      const row = event.target.closest("[role=treeitem]");
      if (!row) return;
      const at = Number(row.dataset.at);
      if (event.target.closest(".fold")) this.toggle(at);
      else this.choose(at);
    });
  }

  // Everything that is not folded away, in order.
  update() {
    const rows = [], above = [];
    const add = (key, level, name, about, address, folded, mark) => {
      const open = folded ? this.expanded.get(key) ?? false : null;
      const set = level > 1 ? above[level - 1] : rows;
      set.size = (set.size || 0) + 1;
      const row = {key, level, name, about, address, open, mark, set, place: set.size};
      above[level] = row.below = {};
      rows.push(row);
      return open;
    };
    const addTurns = (call, level) => {
      for (const [index, turn] of call.turns.entries()) {
        const sum = turnSum(turn);
        const key = "t" + call.number + "." + index;
        const many = turn.requests.length + turn.children.length > 0;
        const about = sum.calls ? count(sum.calls) + (sum.calls === 1 ? " call, " : " calls, ") + count(sum.input + sum.output) + " tokens" : "";
        const mark = turn.failed || sum.failed ? "bad" : turn.accepted ? "good" : "";
        if (!add(key, level, turn.number ? "Turn " + turn.number : "Before turn 1", about,
          ["call", call.number, "turn", index + 1], many, mark)) continue;
        for (const request of turn.requests) {
          add("r" + call.number + "." + request.id, level + 1, (request.sent.purpose || "request") + " " + request.id,
            request.failed ? "failed" : request.reply ? count((request.reply.input || 0) + (request.reply.output || 0)) + " tokens" : "waits",
            ["call", call.number, "request", request.id], false, request.failed ? "bad" : "");
        }
        for (const number of turn.children) addCall(this.story.calls.get(number), level + 1);
      }
    };
    const addCall = (call, level) => {
      const failed = call.status === "failed";
      if (add("c" + call.number, level, "Call " + call.number, call.status || "", ["call", call.number], call.turns.length > 0, failed ? "bad" : "")) {
        addTurns(call, level + 1);
      }
    };
    add("start", 1, "Summary", this.story.finished ? this.story.finished.status : "running", [], false, "");
    addTurns(this.story.calls.get(0), 1);
    add("events", 1, "All events", count(this.story.events.length), ["events"], false, "");
    this.rows = rows;
    this.space.style.height = rows.length * kRow + "px";
    this.draw();
  }

  draw() {
    const from = Math.max(0, Math.floor(this.box.scrollTop / kRow) - 10);
    const to = Math.min(this.rows.length, from + Math.ceil((this.box.clientHeight || 600) / kRow) + 20);
    const held = document.activeElement && this.box.contains(document.activeElement);
    const made = [];
    const show = (at) => {
      const row = this.rows[at];
      const item = element("div", {role: "treeitem", class: "row" + (row.mark ? " " + row.mark : ""), "data-at": at,
        tabindex: at === this.focused ? "0" : "-1", "aria-level": row.level, "aria-setsize": row.set.size,
        "aria-posinset": row.place, "aria-selected": row.key === this.chosen ? "true" : "false",
        "aria-expanded": row.open === null ? null : String(row.open)},
        element("span", {class: "fold", "aria-hidden": "true"}, row.open === null ? "" : row.open ? "▾" : "▸"),
        element("span", {class: "name"}, row.name), " ", element("span", {class: "quiet about"}, row.about));
      item.style.top = at * kRow + "px";
      item.style.paddingInlineStart = (row.level - 1) * 0.9 + 0.3 + "rem";
      made.push(item);
    };
    // The one that has the focus stays, wherever it is, so that the focus is never lost.
    this.focused = Math.min(this.focused, this.rows.length - 1);
    if (this.focused < from) show(this.focused);
    for (let at = from; at < to; at += 1) show(at);
    if (this.focused >= to) show(this.focused);
    this.space.replaceChildren(...made);
    if (held) this.space.querySelector('[tabindex="0"]').focus({preventScroll: true});
  }

  toggle(at) {
    const row = this.rows[at];
    if (!row || row.open === null) return;
    this.expanded.set(row.key, !row.open);
    this.focused = at;
    this.update();
  }
  choose(at) {
    this.focused = at;
    this.open(this.rows[at].address);
  }
  // Unfolds what a part of the run stands in.
  reveal([what, number, part, id]) {
    let call = what === "call" ? this.story.calls.get(Number(number)) : null;
    const unfold = (of, test) => {
      const index = of.turns.findIndex(test);
      if (index >= 0) this.expanded.set("t" + of.number + "." + index, true);
    };
    if (call && part === "request") unfold(call, (turn) => turn.requests.some((one) => String(one.id) === id));
    if (call && part !== undefined && call.number) this.expanded.set("c" + call.number, true);
    while (call && call.number) {
      const above = this.story.calls.get(call.parent), number = call.number;
      if (!above) break;
      unfold(above, (turn) => turn.children.includes(number));
      if (above.number) this.expanded.set("c" + above.number, true);
      call = above;
    }
  }
  mark(address) {
    this.reveal(address);
    this.update();
    const wanted = address.join("/");
    let at = this.rows.findIndex((row) => row.address.join("/") === wanted);
    if (at < 0) at = 0;
    this.chosen = this.rows[at] ? this.rows[at].key : "";
    this.focused = at;
    this.see(at);
  }
  see(at) {
    const top = at * kRow;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + kRow > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + kRow - this.box.clientHeight;
    this.draw();
  }
  move(at) {
    this.focused = Math.max(0, Math.min(at, this.rows.length - 1));
    this.see(this.focused);
    this.space.querySelector('[tabindex="0"]').focus({preventScroll: true});
  }
  press(event) {
    const at = this.focused, row = this.rows[at];
    const page = Math.max(1, Math.floor(this.box.clientHeight / kRow) - 1);
    const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.rows.length - 1, PageDown: at + page, PageUp: at - page}[event.key];
    if (to !== undefined) this.move(to);
    else if (event.key === "Enter" || event.key === " ") this.choose(at);
    else if (event.key === "ArrowRight" && row.open === false) this.toggle(at);
    else if (event.key === "ArrowRight" && row.open) this.move(at + 1);
    else if (event.key === "ArrowLeft" && row.open) this.toggle(at);
    else if (event.key === "ArrowLeft") {
      let above = at - 1;
      while (above > 0 && this.rows[above].level >= row.level) above -= 1;
      this.move(above);
    } else return;
    event.preventDefault();
  }
}

// ---- one turn, one request

const kOutcomes = {kept: "kept", cut: "cut", dropped: "dropped"};

function sourceText(source) {
  if (!source) return "";
  if (typeof source === "string") return source;
  if (typeof source.reference === "string") return source.reference;
  return Object.entries(source).map(([key, value]) => key + ": " + plain(value)).join(", ");
}

// The prompt's sections; those in front are what a provider can have cached.
function sectionsNode(sent, reply) {
  const cached = reply && reply.cached || 0;
  let before = 0;
  const parts = sent.parts || (sent.sections || []).map(([name, tokens]) => ({name, tokens, outcome: "kept"}));
  if (!parts.length) return element("p", {class: "quiet"}, "These messages are the client's own: no layout made them.");
  const rows = parts.map((part) => {
    before += part.tokens || 0;
    const cut = part.outcome && part.outcome !== "kept";
    const why = [kOutcomes[part.outcome] || part.outcome || "kept", cut && part.wanted ? "of " + count(part.wanted) : "",
      part.why || "", part.left_out ? count(part.left_out.count) + " of " + count(part.left_out.of) + " " + part.left_out.unit + " left out" : ""];
    const hit = before <= cached ? "yes" : before - part.tokens < cached ? "in part" : "no";
    return [part.name, part.tokens || 0, why.filter(Boolean).join("; "), part.tokens && reply ? hit : "", part.zone || "", part.role || "",
      sourceText(part.source)];
  });
  return table("Sections of the prompt", ["Section", "Tokens", "Kept, cut or dropped", "Cached", "Zone", "Role", "Source"], rows);
}

function messagesNode(run, messages) {
  return messages.map((message, index) => folded(
    (message.role || "message") + ", " + count(lengthOf(message.body ?? message.text)) + " characters",
    () => textNode(run, message.body ?? message.text ?? "", "Message " + (index + 1)), index === messages.length - 1));
}

function variablesNode(variables) {
  return table("Variables", ["Name", "Type", "Size", "Preview"],
    variables.map((one) => [one.name, one.type, one.size === undefined || one.size === null ? "" : String(one.size), one.preview || ""]));
}

function blockNode(run, block) {
  return element("article", {class: "event"},
    element("h4", {}, "Block " + block.number + " ", statusNode(block.status || ""), " ",
      element("span", {class: "quiet"}, block.wall_ms === undefined ? "" : seconds(block.wall_ms))),
    block.code ? textNode(run, block.code, "Code of block " + block.number) : null,
    block.output && lengthOf(block.output) ? [element("p", {class: "quiet"}, "Output"), textNode(run, block.output, "Output of block " + block.number)] : null,
    block.error ? [element("p", {class: "quiet"}, "Error"), textNode(run, block.error, "Error of block " + block.number)] : null,
    block.variables && block.variables.length ? variablesNode(block.variables) : null);
}

function requestLink(run, request) {
  const reply = request.reply || {};
  return element("p", {}, element("a", {href: address(run, "call", request.call, "request", request.id)},
    (request.sent.purpose || "request") + " " + request.id), " ",
    element("span", {class: "quiet"}, [request.sent.model, request.failed ? "failed: " + request.failed.message : tokensOf(reply),
      reply.from_cache ? "from the cache" : usd(reply.nano_usd)].filter(Boolean).join(", ")));
}

function turnNode(run, story, turn) {
  const sum = turnSum(turn), reply = turn.reply || {};
  const ms = reply.ms ?? (turn.begun && reply.time ? Date.parse(reply.time) - Date.parse(turn.begun) : null);
  const node = element("div", {}, element("h2", {}, (turn.call ? "Call " + turn.call + ", t" : "T") + (turn.number ? "urn " + turn.number : "he time before turn 1")),
    pairs({model: turn.sent && turn.sent.model, requests: sum.calls ? count(sum.calls) : null, tokens: sum.calls ? tokensOf(sum) : null,
      cost: usd(sum.nano), "the model took": ms === null ? null : seconds(ms), finish: reply.finish}),
    element("div", {class: "actions"}, turn.call === 0 && turn.number > 0 && forkable(story) ?
      element("a", {class: "button", href: address(run, "fork", turn.number)}, "Fork behind this turn") : null));
  if (turn.notes.length) node.append(section("Notes", element("ul", {}, turn.notes.map((note) => element("li", {}, note.text)))));
  if (turn.sent) {
    node.append(section("Sections of the prompt", sectionsNode(turn.sent, turn.reply)),
      section("Messages as sent", ...messagesNode(run, turn.sent.messages)));
  }
  if (turn.failed) node.append(section("The request failed", textNode(run, turn.failed.message || "", "What went wrong")));
  if (reply.thinking) node.append(section("Thinking", folded("Show it", () => textNode(run, reply.thinking, "Thinking"))));
  if (reply.body !== undefined) node.append(section("Reply", textNode(run, reply.body, "Reply")));
  if (turn.blocks.length) node.append(paged(section("Code and its output"), turn.blocks, (block) => blockNode(run, block)));
  if (turn.requests.length) node.append(paged(section("Sub-calls (" + count(turn.requests.length) + ")"), turn.requests, (request) => requestLink(run, request)));
  if (turn.children.length) {
    node.append(paged(section("Calls with a loop of their own"), turn.children, (number) => element("p", {},
      element("a", {href: address(run, "call", number)}, "Call " + number), " ", element("span", {class: "quiet"}, story.callOf(number).status || ""))));
  }
  if (turn.others.length) {
    node.append(section("Other events", folded(count(turn.others.length) + " more", () =>
      paged(element("div"), turn.others, (event) => eventNode(run, event)))));
  }
  return node;
}

function requestNode(run, request) {
  const reply = request.reply || {};
  const node = element("div", {}, element("h2", {}, (request.sent.purpose || "request") + " " + request.id),
    pairs({model: request.sent.model, tokens: tokensOf(reply), cost: reply.from_cache ? "none: from the cache" : usd(reply.nano_usd),
      finish: reply.finish, begun: when(request.begun), took: reply.time ? seconds(Date.parse(reply.time) - Date.parse(request.begun)) : null}));
  if (request.sent.system) node.append(section("System text", ...messagesNode(run, [].concat(request.sent.system).filter((one) => typeof one === "object"))));
  node.append(section("As sent", ...(request.messages ? messagesNode(run, request.messages) : [textNode(run, request.sent.messages ?? "", "Prompt")])));
  if (request.failed) node.append(section("It failed", textNode(run, request.failed.message || "", "What went wrong")));
  if (reply.thinking) node.append(section("Thinking", textNode(run, reply.thinking, "Thinking")));
  if (reply.body !== undefined) node.append(section("Reply", textNode(run, reply.body, "Reply")));
  return node;
}

function callNode(run, story, call) {
  const about = {...call.about, ...call.result};
  const short = {}, texts = [];
  for (const [key, value] of Object.entries(about)) {
    if (isBody(value)) texts.push([key, value]);
    else short[key] = value;
  }
  return element("div", {}, element("h2", {}, "Call " + call.number), pairs(short),
    texts.map(([key, value]) => section(key, textNode(run, value, key))),
    section("Turns", paged(element("div"), call.turns.map((turn, index) => [turn, index]), ([turn, index]) => element("p", {},
      element("a", {href: address(run, "call", call.number, "turn", index + 1)}, turn.number ? "Turn " + turn.number : "Before turn 1")))));
}

// ---- the summary of a run

function citationsNode(run, citations) {
  return citations.map((one) => {
    const text = one.quote || one.text || one.claim || "";
    const places = [one.at || one.ref || one.reference || one.place].flat().filter(Boolean).map(plain).join(", ");
    const rest = Object.fromEntries(Object.entries(one).filter(([key]) => !["quote", "text", "claim", "at", "ref", "reference", "place", "status"].includes(key)));
    return element("article", {class: "event"}, element("h4", {}, places || "quotation", " ", statusNode(one.status || "")),
      text ? element("blockquote", {}, plain(text)) : null, Object.keys(rest).length ? pairs(rest) : null);
  });
}

const share = (part) => part === null || part === undefined ? null : Math.round(part * 1000) / 10 + " %";

function summaryNode(run, story) {
  const data = story.finished || {}, evidence = data.evidence || {};
  const node = element("div", {}, element("h2", {}, "Summary"));
  if (data.answer) node.append(section("Answer", textNode(run, data.answer, "Answer")));
  if (data.error) node.append(section("What went wrong", textNode(run, data.error, "What went wrong")));
  const sums = {};
  for (const [key, name] of [["turns", "turns"], ["calls", "requests"], ["failed_calls", "failed"], ["cached_calls", "from the cache"]]) {
    if (data[key]) sums[name] = count(data[key]);
  }
  node.append(section("What it took", pairs({...sums, tokens: tokensOf(data), cost: usd(data.nano_usd), time: data.ms ? seconds(data.ms) : null,
    limits: story.started.limits ? Object.entries(story.started.limits).filter(([, value]) => value !== null).map(([key, value]) => key + " " + count(value)).join(", ") : null,
    "limits reached": data.limits_hit && data.limits_hit.length ? data.limits_hit.map((one) => typeof one === "object" ?
      one.limit + ": " + one.used + " of " + one.max : one).join("; ") : null})));
  if (data.evidence) {
    node.append(section("Coverage", pairs({"read by models": share(evidence.read_by_models), "read by code": share(evidence.read_by_code),
      attempts: evidence.attempts > 1 ? evidence.agreeing + " of " + evidence.attempts + " agree" : null, doubts: (evidence.doubts || []).join("; ")})));
  }
  if (data.citations && data.citations.length) node.append(paged(section("Citations"), data.citations, (one) => element("div", {}, citationsNode(run, [one]))));
  const notes = [...story.notes];
  for (const call of story.calls.values()) for (const turn of call.turns) if (notes.length < 500) notes.push(...turn.notes);
  for (const [title, course] of [["How it went on", true], ["Warnings and refusals", false]]) {
    const some = notes.filter((note) => note.course === course);
    if (some.length) node.append(section(title, paged(element("ul"), some, (note) => element("li", {}, note.text))));
  }
  if (story.hint) node.append(section("Hint: what the data are", textNode(run, story.hint, "Hint")));
  const contexts = story.started.contexts || [];
  if (contexts.length) {
    node.append(section("Contexts", table("Contexts", ["Name", "Characters", "Bytes", "Path"],
      contexts.slice(0, kShown).map((one) => [one.name, one.characters, one.bytes, one.path || ""]))));
  }
  node.append(section("How it was begun", pairs({mode: story.mode.mode, why: story.mode.reason, kind: story.started.kind, profile: story.started.profile,
    "model of sub-calls": story.started.sub_model, seed: story.started.seed, version: story.started.version,
    "command line": (story.started.argv || []).map(plain).join(" ")})));
  const others = story.calls.get(0).others;
  if (others.length) node.append(section("Other events", folded(count(others.length) + " events", () => paged(element("div"), others, (event) => eventNode(run, event)))));
  return node;
}

// ---- one run

const address = (run, ...rest) => "#/runs/" + [run, ...rest].map(encodeURIComponent).join("/");
// Only a run of ask has turns to go on from, as long as it has its texts.
const forkable = (story) => !story.shared && !story.started.kind && !story.started.imported && !story.started.deleted;

// Sends an order; what comes of it is said, and may be another view.
function order(path, body, then) {
  return ask(path, {method: "POST", headers: {...headers(), "Content-Type": "application/json"}, body: JSON.stringify(body || {})})
    .then((response) => response.json()).then(then).catch((error) => say(error.message));
}

function forkNode(run, story, at) {
  const field = (name, label, node) => element("p", {class: "field"}, element("label", {for: "fork-" + name}, label), node);
  const turn = element("input", {id: "fork-at", type: "number", min: "0", step: "1", value: at ?? "0", required: ""});
  const question = element("textarea", {id: "fork-question", rows: "2"});
  const model = element("input", {id: "fork-model", autocomplete: "off", spellcheck: "false"});
  const code = element("textarea", {id: "fork-code", rows: "5", spellcheck: "false"});
  const form = element("form", {}, element("h2", {}, "Fork this run"),
    element("p", {class: "quiet"}, "A new run that shares the turns up to one of this one. This one stays as it is."),
    field("at", "Last turn that stays (0: none)", turn), field("question", "Another question (empty: the same)", question),
    field("model", "Another model (empty: the same)", model), field("code", "Code that runs as the next turn (empty: the model is asked)", code),
    element("div", {class: "actions"}, element("button", {}, "Fork")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const body = {at: Number(turn.value)};
    for (const [key, node] of Object.entries({question, model, code})) if (node.value.trim()) body[key] = node.value;
    say("The fork is begun …");
    order("/api/v1/runs/" + encodeURIComponent(run) + "/fork", body, (got) => { location.hash = address(got.run); });
  });
  return form;
}

const kOver = new Set(["interrupted", "failed"]);

async function showRun(run, rest, mine) {
  const path = "/api/v1/runs/" + encodeURIComponent(run);
  const summary = await askJson(path);
  if (mine !== view) return;
  const story = new Story();
  story.shared = summary.state !== undefined;  // of a store that machines share
  const head = element("div"), detail = element("section", {class: "detail", "aria-label": "What is chosen", tabindex: "-1"});
  let wanted = rest, ended = false, drawn = "";
  const tree = new Tree(run, story, (to) => { location.hash = address(run, ...to); });

  const status = () => story.finished ? story.finished.status : ended ? summary.status === "running" ? "interrupted" : summary.status : "running";
  const drawHead = () => {
    const question = summary.about.deleted ? "(deleted)" : story.started.question ?? summary.about.question;
    const now = status(), over = ended;
    const button = (name, click) => element("button", {type: "button", click}, name);
    head.replaceChildren(element("p", {class: "quiet"}, element("a", {href: "#/"}, "Runs"), " / ", run),
      element("h1", {}, typeof question === "string" ? question : question && question.text || run),
      pairs({status: statusNode(now), model: summary.about.model, begun: when(summary.started)}),
      element("div", {class: "actions"},
        over ? null : button("Cancel", () => order(path + "/cancel", {}, () => say("The run is told to stop."))),
        over && kOver.has(now) && (story.shared || forkable(story)) ? button("Resume", () => {
          say("The run is resumed …");
          order(path + "/resume", {}, () => show());
        }) : null,
        forkable(story) ? element("a", {class: "button", href: address(run, "fork", String(lastTurn()))}, "Fork") : null,
        element("a", {class: "button", href: "#/diff/" + encodeURIComponent(run)}, "Compare"),
        button("Save its events", () => save(path + "/export", run + ".jsonl"))));
  };
  // The last one that was answered: one that was cut off has nothing to go on from.
  const lastTurn = () => Math.max(0, ...story.calls.get(0).turns.filter((turn) => turn.reply).map((turn) => turn.number));
  const content = () => {
    const [what, number, part, id] = wanted;
    if (what === "fork") return forkNode(run, story, number);
    if (what === "events") return element("div", {}, element("h2", {}, "All events"), paged(section("In their order"), story.events, (event) => eventNode(run, event)));
    if (what === undefined) return summaryNode(run, story);
    const call = story.calls.get(Number(number));
    if (what !== "call" || !call) return element("p", {}, "There is no such part of this run.");
    if (part === undefined) return callNode(run, story, call);
    const found = part === "turn" ? call.turns[Number(id) - 1] :
      call.turns.flatMap((turn) => turn.requests).find((request) => String(request.id) === id);
    if (!found) return element("p", {}, "There is no such part of this run" + (ended ? "." : " yet."));
    return part === "turn" ? turnNode(run, story, found) : requestNode(run, found);
  };
  // What somebody reads stays as it is: only what can have changed is drawn again.
  const stamp = () => {
    const [what, number, part, id] = wanted;
    const call = what === "call" ? story.calls.get(Number(number)) : null;
    const turn = call && part === "turn" ? call.turns[Number(id) - 1] : null;
    if (what === "fork") return "fork";
    if (turn) return [turn.sent ? 1 : 0, turn.reply ? 1 : 0, turn.blocks.map((block) => block.status).join(), turn.requests.length,
      turn.requests.filter((one) => one.reply || one.failed).length, turn.notes.length].join("/");
    return what === undefined ? String(ended) + story.notes.length + (story.hint ? 1 : 0) + story.calls.size : String(story.events.length);
  };
  const draw = () => {
    tree.update();
    drawHead();
    const now = wanted.join("/") + "|" + stamp();
    if (now === drawn) return;
    drawn = now;
    detail.replaceChildren(content());
    tree.mark(wanted);
  };
  main.replaceChildren(head, element("div", {class: "columns"}, tree.box, detail));
  shown = {run, go: (to) => { wanted = to; draw(); detail.focus(); detail.scrollIntoView({block: "nearest"}); }};
  const tell = (text) => head.replaceChildren(element("h1", {}, summary.about.question || run), element("p", {}, text));
  if (summary.status === "queued") tell("This run waits for a worker.");
  await readEvents(path + "/events", mine, (event) => story.add(event), async (over) => {
    // Of a shared run the queue says how it ended, whatever its last worker recorded.
    if (over === true && story.shared) Object.assign(summary, await askJson(path).catch(() => ({})));
    if (mine !== view) return;
    ended = ended || over === true;
    if (story.events.length) draw();
    else if (ended) tell("This run ended (" + summary.status + ") before anything was recorded of it.");
  });
}

// ---- two runs beside each other

async function showDiff(first, second, mine) {
  const input = (id, value) => element("input", {id, value: value || "", autocomplete: "off", spellcheck: "false", required: ""});
  const a = input("diff-a", first), b = input("diff-b", second);
  const form = element("form", {class: "actions"}, element("label", {for: "diff-a"}, "Run"), a, element("label", {for: "diff-b"}, "and"), b,
    element("button", {}, "Compare"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    location.hash = "#/diff/" + encodeURIComponent(a.value.trim()) + "/" + encodeURIComponent(b.value.trim());
  });
  const result = element("div");
  main.replaceChildren(element("h1", {}, "What two runs differ in"), form, result);
  if (!first || !second) return;
  const diff = await askJson("/api/v1/diff?" + new URLSearchParams({a: first, b: second}));
  if (mine !== view) return;
  const both = (title, left, right) => section(title, element("div", {class: "two"},
    ...[[first, left], [second, right]].map(([run, value]) => element("div", {}, element("p", {class: "quiet"},
      element("a", {href: address(run)}, run)), textNode(run, isEmpty(value) ? "(none)" : Array.isArray(value) && value.every((one) => typeof one === "string") ? value.join("\n") :
        typeof value === "object" ? JSON.stringify(value, null, 1) : String(value), title)))));
  result.append(element("h2", {}, "Differences"));
  if (diff.equal) return result.append(element("p", {}, "The runs do not differ."));
  for (const part of ["question", "answer"]) if (diff[part] && diff[part][0] !== diff[part][1]) result.append(both(part, diff[part][0], diff[part][1]));
  paged(result, diff.turns || [], (turn) => element("div", {}, (turn.differs || []).map((part) =>
    both("Turn " + turn.turn + ": " + part, turn.a && turn.a[part], turn.b && turn.b[part]))));
}

async function save(path, name) {
  const blob = await (await ask(path)).blob();
  const link = element("a", {href: URL.createObjectURL(blob), download: name});
  link.click();
  URL.revokeObjectURL(link.href);
}

// Server-sent events by fetch, since an EventSource sends no key. `pause`: nothing more for now.
async function readEvents(path, mine, see, pause) {
  follow = new AbortController();
  const response = await ask(path, {headers: headers(), signal: follow.signal});
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let planned = 0;
  const soon = () => {
    if (planned) return;
    planned = setTimeout(() => { planned = 0; if (mine === view) pause(false); }, 150);
  };
  for (;;) {
    const {value, done} = await reader.read();
    if (done || mine !== view) return;
    text += value;
    let end;
    while ((end = text.indexOf("\n\n")) >= 0) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      const type = (block.match(/^event: (.*)$/m) || [])[1];
      const data = (block.match(/^data: (.*)$/m) || [])[1];
      if (type === "end") { say("The run has ended."); pause(true); return; }
      if (type === "shutdown") { say("The server ends."); return; }
      if (type && data) see({type, ...exact(data)});
    }
    soon();
  }
}

// ---- which view

async function show(moved) {
  takeKey();
  const parts = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  // Another part of the run that is shown: nothing is read again.
  if (moved && shown && parts[0] === "runs" && parts[1] === shown.run) return shown.go(parts.slice(2));
  shown = null;
  const mine = ++view;
  if (follow) follow.abort();
  document.title = "Dossier: " + (parts[0] === "runs" && parts[1] ? parts[1] : parts[0] === "diff" ? "comparison" : "runs");
  try {
    if (parts[0] === "runs" && parts[1]) await showRun(parts[1], parts.slice(2), mine);
    else if (parts[0] === "diff") await showDiff(parts[1], parts[2], mine);
    else await showRuns(parts[0] === "search" ? parts[1] || "" : "", mine);
  } catch (error) {
    if (mine !== view || error.name === "AbortError") return;
    if (error.status === 401) askForKey(error.message);
    else main.replaceChildren(element("h1", {}, "This did not work"), element("p", {}, error.message),
      element("p", {}, element("a", {href: "#/"}, "All runs")));
  }
}

document.getElementById("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = document.getElementById("q").value.trim();
  const to = text ? "#/search/" + encodeURIComponent(text) : "#/";
  if (location.hash !== to) location.hash = to;
  else show();
});
document.getElementById("scheme").addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).getPropertyValue("--back").trim() !== "#ffffff";
  document.documentElement.dataset.scheme = dark ? "light" : "dark";
  say((dark ? "Light" : "Dark") + " colours");
});
window.addEventListener("hashchange", () => show(true));
show();
