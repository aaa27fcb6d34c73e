// The viewer of `dossier serve`: runs, their calls and turns, what was sent and what came back.
// Texts of files, code and models enter as text alone, never as HTML. The key comes in the address's
// fragment, which no server sees, and moves into this tab's session storage.
"use strict";

const kShown = 200;          // entries of a list in the page at once; the rest comes on request
const kLongText = 20000;     // characters of a text that are shown at first
const main = document.getElementById("main");
const said = document.getElementById("said");
let view = 0;                // counts views, so that what belongs to an older one is dropped
let follow = null;           // the reader of a live run

const say = (text) => { said.textContent = text; };

// element("p", {class: "x"}, "text", child, …)
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "click") made.addEventListener("click", value);
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined) continue;
    made.append(child instanceof Node ? child : document.createTextNode(String(child)));
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
const askJson = async (path, options) => (await ask(path, options)).json();

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

async function showRuns(mine) {
  const body = element("tbody");
  const more = element("button", {type: "button", hidden: ""}, "More");
  main.replaceChildren(element("h1", {}, "Runs"),
    element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Runs"},
      element("table", {}, element("thead", {}, element("tr", {},
        ...["Run", "Begun", "Question", "Model", "Status"].map((name) => element("th", {scope: "col"}, name)))),
        body)), more);
  let next = "";
  const load = async () => {
    const query = new URLSearchParams({limit: "50", q: document.getElementById("q").value});
    if (next) query.set("cursor", next);
    const page = await askJson("/api/v1/runs?" + query);
    if (mine !== view) return;
    for (const run of page.runs) {
      body.append(element("tr", {},
        element("td", {}, element("a", {href: "#/runs/" + encodeURIComponent(run.run)}, run.run)),
        element("td", {}, when(run.started)), element("td", {}, run.question), element("td", {}, run.model),
        element("td", {}, statusNode(run.status))));
    }
    next = page.next || "";
    more.hidden = !next;
    say(body.rows.length + " runs shown");
  };
  more.addEventListener("click", () => load().catch((error) => say(error.message)));
  await load();
}

// ---- one run

// A text of an event: in place, or stored by its hash.
function textNode(run, body) {
  const box = element("pre", {tabindex: "0"});
  const fill = (text) => {
    box.textContent = text.length > kLongText ? text.slice(0, kLongText) : text;
    if (text.length <= kLongText) return;
    const rest = element("button", {type: "button"}, "Show all " + count(text.length) + " characters");
    rest.addEventListener("click", () => { box.textContent = text; rest.remove(); });
    box.after(rest);
  };
  if (typeof body === "string") fill(body);
  else if (body && typeof body.text === "string") fill(body.text);
  else if (body && body.sha256) {
    box.textContent = "…";
    ask("/api/v1/blobs/" + body.sha256 + "?run=" + encodeURIComponent(run)).then((got) => got.text())
      .then(fill).catch((error) => { box.textContent = error.message; });
  }
  return box;
}

function pairs(object) {
  const list = element("dl");
  for (const [key, value] of Object.entries(object)) {
    if (value === null || value === undefined || value === "") continue;
    list.append(element("dt", {}, key), element("dd", {}, typeof value === "object" ? JSON.stringify(value) : value));
  }
  return list;
}

const isBody = (value) => value && typeof value === "object" && (value.sha256 || typeof value.text === "string");

function eventNode(run, event) {
  const node = element("article", {class: "event"}, element("h3", {}, event.type, " ",
    element("span", {class: "quiet"}, event.time.slice(11, 23))));
  const plain = {};
  const texts = [];
  for (const [key, value] of Object.entries(event.data || {})) {
    if (isBody(value) || (typeof value === "string" && (value.includes("\n") || value.length > 120))) texts.push([key, value]);
    else if (key === "messages" && Array.isArray(value)) {
      for (const message of value) {
        if (message && typeof message === "object") texts.push([(message.role || "message") + " " + (message.n || ""), message.body || message.text || ""]);
      }
      const named = value.filter((message) => typeof message === "number");
      if (named.length) plain["sent before"] = "messages " + named.join(", ");
    } else plain[key] = value;
  }
  if (Object.keys(plain).length) node.append(pairs(plain));
  for (const [key, value] of texts) node.append(element("p", {class: "quiet"}, key), textNode(run, value));
  return node;
}

// The turns of a run as groups of its events: what stands before the first is turn 0.
function groupsOf(events) {
  const groups = [{name: "Start", events: []}];
  for (const event of events) {
    if (event.type === "turn.started") groups.push({name: "Turn " + (event.data.turn ?? groups.length), events: []});
    if (event.type === "run.finished") groups.push({name: "End", events: []});
    groups[groups.length - 1].events.push(event);
  }
  return groups;
}

function about(group) {
  let input = 0, output = 0, requests = 0;
  for (const event of group.events) {
    if (event.type !== "reply.received") continue;
    requests += 1;
    input += event.data.input || 0;
    output += event.data.output || 0;
  }
  return requests ? requests + (requests === 1 ? " call, " : " calls, ") + count(input) + " + " + count(output) + " tokens" : "";
}

function treeOf(groups, chosen, open) {
  const tree = element("ul", {role: "tree", "aria-label": "Turns of this run"});
  groups.slice(0, 3000).forEach((group, index) => {
    tree.append(element("li", {role: "treeitem", tabindex: index === chosen ? "0" : "-1", "data-index": index,
      "aria-selected": index === chosen ? "true" : "false", click: () => open(index)},
      group.name, " ", element("span", {class: "quiet"}, about(group))));
  });
  tree.addEventListener("keydown", (event) => {
    const items = tree.children.length;
    const at = Number(document.activeElement.dataset.index || 0);
    const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items - 1}[event.key];
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(at); return; }
    if (to === undefined || to < 0 || to >= items) return;
    event.preventDefault();
    tree.children[at].tabIndex = -1;
    tree.children[to].tabIndex = 0;
    tree.children[to].focus();
  });
  return tree;
}

async function showRun(run, wanted, mine) {
  const path = "/api/v1/runs/" + encodeURIComponent(run);
  const summary = await askJson(path);
  if (mine !== view) return;
  const events = [];
  const head = element("div");
  const side = element("div");
  const detail = element("section", {"aria-label": "Events of the turn", tabindex: "-1"});
  let chosen = null, groups = [];

  const drawHead = () => {
    const finished = events.find((event) => event.type === "run.finished");
    const data = finished ? finished.data : {};
    head.replaceChildren(element("h1", {}, summary.about.question && summary.about.question.text || summary.about.question || run),
      pairs({run, status: finished ? data.status : summary.status, model: summary.about.model, begun: when(summary.started),
        mode: summary.mode && summary.mode.mode, seconds: data.ms ? seconds(data.ms) : null, calls: data.calls,
        tokens: data.input !== undefined ? count(data.input) + " + " + count(data.output) : null,
        cost: data.nano_usd !== undefined && data.nano_usd !== null ? "$" + (data.nano_usd / 1e9).toFixed(4) : null,
        doubts: data.evidence && data.evidence.doubts && data.evidence.doubts.join("; "),
        limits: data.limits_hit && data.limits_hit.length ? data.limits_hit : null}),
      element("div", {class: "actions"},
        finished ? null : element("button", {type: "button", click: () => ask(path + "/cancel", {method: "POST"})
          .then(() => say("The run is told to stop.")).catch((error) => say(error.message))}, "Cancel"),
        element("button", {type: "button", click: () => save(path + "/export", run + ".jsonl")}, "Save its events")));
    if (finished && data.answer) head.append(element("h2", {}, "Answer"), textNode(run, data.answer));
  };
  const open = (index) => {
    chosen = index;
    history.replaceState(null, "", "#/runs/" + encodeURIComponent(run) + "/" + index);
    draw();
    const item = side.querySelector('[tabindex="0"]');
    if (item) item.focus();
  };
  const drawDetail = () => {
    const group = groups[Math.min(chosen ?? groups.length - 1, groups.length - 1)];
    const list = group.events;
    detail.replaceChildren(element("h2", {}, group.name));
    let shown = 0;
    const more = element("button", {type: "button"}, "More events");
    const add = () => {
      for (const event of list.slice(shown, shown + kShown)) more.before(eventNode(run, event));
      shown += kShown;
      more.hidden = shown >= list.length;
    };
    detail.append(more);
    more.addEventListener("click", add);
    add();
  };
  const draw = () => {
    groups = groupsOf(events);
    if (chosen === null && wanted !== undefined) chosen = Number(wanted);
    const at = Math.min(chosen ?? groups.length - 1, groups.length - 1);
    side.replaceChildren(treeOf(groups, at, open));
    drawHead();
    drawDetail();
  };
  main.replaceChildren(head, element("div", {class: "columns"}, side, detail));
  await readEvents(path + "/events", mine, (event) => { events.push(event); }, () => { if (events.length) draw(); });
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
    planned = setTimeout(() => { planned = 0; if (mine === view) pause(); }, 60);
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
      if (type === "end") { say("The run has ended."); pause(); return; }
      if (type === "shutdown") { say("The server ends."); return; }
      if (type && data) see({type, ...JSON.parse(data)});
    }
    soon();
  }
}

// ---- which view

async function show() {
  takeKey();
  const mine = ++view;
  if (follow) follow.abort();
  const parts = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  document.title = parts[0] === "runs" ? "Dossier: " + parts[1] : "Dossier: runs";
  try {
    if (parts[0] === "runs" && parts[1]) await showRun(parts[1], parts[2], mine);
    else await showRuns(mine);
  } catch (error) {
    if (mine !== view || error.name === "AbortError") return;
    if (error.status === 401) askForKey(error.message);
    else main.replaceChildren(element("h1", {}, "This did not work"), element("p", {}, error.message),
      element("p", {}, element("a", {href: "#/"}, "All runs")));
  }
}

document.getElementById("search").addEventListener("submit", (event) => {
  event.preventDefault();
  if (location.hash !== "#/") location.hash = "#/";
  else show();
});
document.getElementById("scheme").addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).getPropertyValue("--back").trim() !== "#ffffff";
  document.documentElement.dataset.scheme = dark ? "light" : "dark";
  say((dark ? "Light" : "Dark") + " colours");
});
window.addEventListener("hashchange", show);
show();
