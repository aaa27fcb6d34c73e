#include "research/search/tree_page.h"

namespace dossier::research {

std::string_view TreePageStyle() {
  return R"css(
:root { color-scheme: light dark; --back: #f6f7f9; --card: #fff; --text: #1d2430; --dim: #5d6878;
  --line: #dde2e9; --accent: #2457c5; --soft: #e9effb; --good: #1d7a46; --bad: #b3352b; }
@media (prefers-color-scheme: dark) { :root { --back: #12161c; --card: #1a2028; --text: #e4e9f0;
  --dim: #98a3b3; --line: #2c3541; --accent: #84aefc; --soft: #1f2b40; --good: #6fcf97;
  --bad: #f28b82; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
[hidden] { display: none !important; }
header { background: var(--card); border-bottom: 1px solid var(--line); padding: .7rem 1.2rem; }
h1 { font-size: 1.05rem; margin: 0; overflow-wrap: anywhere; }
header small, .dim { color: var(--dim); }
.tools { display: flex; flex-wrap: wrap; gap: .4rem .6rem; align-items: center; margin-top: .5rem; }
.tools input { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line);
  border-radius: .4rem; padding: .2rem .6rem; width: 15rem; max-width: 100%; }
.tools button { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line);
  border-radius: .4rem; padding: .2rem .6rem; min-width: 2.2rem; cursor: pointer; }
.tools a, dd a { color: var(--accent); }
.tools output { color: var(--dim); } .tools output:empty { display: none; }
.legend { font-size: .85rem; }
main { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 1.2rem;
  padding: 1.2rem; max-width: 110rem; margin: 0 auto; align-items: start; }
.canvas { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; overflow: auto;
  max-height: 70vh; }
.tree { display: block; } .tree p { padding: 0 1rem; }
svg text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: var(--text); }
svg .result, svg .tick, svg .stage { fill: var(--dim); font-size: 11px; font-variant-numeric: tabular-nums; }
.edge { fill: none; stroke: var(--line); stroke-width: 1.5; }
.edge.onpath { stroke: var(--accent); stroke-width: 3; }
.node rect { fill: var(--back); stroke: var(--dim); stroke-width: 1.2; }
.node.good rect { stroke: var(--good); } .node.buggy rect { stroke: var(--bad); }
.node.best rect { fill: var(--soft); } .node.onpath rect, .node.best rect { stroke: var(--accent); stroke-width: 2.5; }
.node.running rect { stroke-dasharray: 5 3; } .node.pruned { opacity: .45; }
.node.off { opacity: .15; } .node[aria-current] rect { fill: var(--soft); }
.node:focus, .point:focus { outline: none; } .node:hover rect, .node:focus-visible rect { stroke-width: 4; }
.mark { font-weight: 700; }
.best .mark, h3 .best, .legend .best { color: var(--accent); fill: var(--accent); }
.good .mark, h3 .good, .legend .good { color: var(--good); fill: var(--good); }
.buggy .mark, h3 .buggy, .legend .buggy { color: var(--bad); fill: var(--bad); }
.plot { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; margin: 1rem 0 0;
  padding: .5rem .8rem; } .plot svg { display: block; width: 100%; height: auto; }
.axis { fill: none; stroke: var(--line); } .sofar { fill: none; stroke: var(--accent); stroke-width: 2; }
.point circle { fill: var(--dim); } .point.good circle { fill: var(--good); }
.point.buggy circle { fill: var(--bad); } .point.best circle { fill: var(--accent); }
article { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: .9rem 1.1rem; margin-bottom: 1rem; scroll-margin-top: 1rem; }
article h3 { margin: 0 0 .5rem; font-size: 1rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .1rem 1rem; margin: 0 0 .8rem; }
dt { color: var(--dim); } dd { margin: 0; overflow-wrap: anywhere; }
details { border-top: 1px solid var(--line); padding: .35rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
summary .dim { font-size: .85rem; }
details details { margin-left: 1rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 32rem; overflow: auto; margin: .4rem 0;
  padding: .6rem .8rem; background: var(--back); border-radius: .4rem; font: .82rem/1.45 ui-monospace, monospace; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); gap: .8rem; margin: .4rem 0 .8rem; }
figure { margin: 0; } figure img { width: 100%; height: auto; background: #fff; border-radius: .4rem; display: block; }
figcaption { color: var(--dim); font-size: .8rem; overflow-wrap: anywhere; }
@media (min-width: 60rem) { .drawn { position: sticky; top: 1.2rem; max-height: calc(100vh - 2.4rem);
  overflow: auto; } }
@media (max-width: 60rem) { main { grid-template-columns: minmax(0, 1fr); padding: .8rem; gap: .8rem; }
  .canvas { max-height: 60vh; } header { padding: .6rem .8rem; } svg .tick { font-size: 20px; } }
)css";
}

std::string_view TreePageScript() {
  return R"js(
(() => {
  const data = JSON.parse(document.getElementById("texts").textContent);
  const articles = [...document.querySelectorAll("article")];
  const tree = document.getElementById("tree");
  const canvas = document.querySelector(".canvas");
  const search = document.getElementById("search");
  const nodes = [...document.querySelectorAll(".node")];
  const placeOf = (link) => link.getAttribute("href").slice(1);
  const make = (name, text) => {
    const element = document.createElement(name);
    element.textContent = text;
    return element;
  };
  const fill = (details) => {
    if (details.dataset.filled) return;
    details.dataset.filled = "1";
    for (const [name, text] of data.prompts[Number(details.dataset.prompt)]) {
      const section = document.createElement("details");
      section.append(make("summary", name), make("pre", data.texts[text]));
      details.append(section);
    }
  };
  for (const details of document.querySelectorAll("details[data-prompt]")) {
    details.addEventListener("toggle", () => details.open && fill(details));
  }
  const show = () => {
    const wanted = location.hash.slice(1) || document.body.dataset.first;
    const found = articles.find((article) => article.id === wanted) || articles[0];
    for (const article of articles) article.hidden = article !== found;
    for (const node of nodes) {
      if (found && placeOf(node) === found.id) node.setAttribute("aria-current", "true");
      else node.removeAttribute("aria-current");
    }
  };
  addEventListener("hashchange", show);
  show();

  // Scrolls the drawing and not the page.
  const nudge = (low, high, from, to) => low < from ? low - from - 20 : high > to ? high - to + 20 : 0;
  const reveal = (node) => {
    const box = node.getBoundingClientRect(), frame = canvas.getBoundingClientRect();
    canvas.scrollLeft += nudge(box.left, box.right, frame.left, frame.right);
    canvas.scrollTop += nudge(box.top, box.bottom, frame.top, frame.bottom);
  };
  let zoom = 1;
  const resize = (to) => {
    if (!tree) return;
    const { width, height } = tree.viewBox.baseVal;
    const fit = Math.min(canvas.clientWidth / width, 1);
    zoom = to === "fit" ? fit : to === "0" ? 1 : zoom * (to === "1" ? 1.25 : 0.8);
    if (to === "first") zoom = fit > 0.6 ? fit : 1;  // whole, as long as it can be read
    zoom = Math.min(Math.max(zoom, 0.1), 6);
    tree.setAttribute("width", width * zoom);
    tree.setAttribute("height", height * zoom);
  };
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => resize(button.dataset.zoom));
  }
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    resize(event.deltaY > 0 ? "-1" : "1");
  }, { passive: false });

  const fits = () => nodes.filter((node) => !node.classList.contains("off"));
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(" ").filter(Boolean);
    for (const node of nodes) {
      node.classList.toggle("off", !words.every((word) => node.dataset.text.includes(word)));
    }
    document.getElementById("found").textContent =
      words.length ? `${fits().length} of ${nodes.length}` : "";
    if (words.length && fits()[0]) reveal(fits()[0]);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") search.value = "", search.dispatchEvent(new Event("input"));
    if (event.key !== "Enter" || !fits()[0]) return;
    location.hash = placeOf(fits()[0]);
    fits()[0].focus();
  });

  // Left: the parent; right: its first child; up and down: the one before and behind.
  const beside = (node, key) => {
    const at = nodes.indexOf(node);
    if (key === "ArrowUp") return nodes[at - 1];
    if (key === "ArrowDown") return nodes[at + 1];
    if (key === "ArrowLeft") return nodes.find((one) => placeOf(one) === node.dataset.parent);
    if (key === "ArrowRight") return nodes.find((one) => one.dataset.parent === placeOf(node));
    return undefined;
  };
  addEventListener("keydown", (event) => {
    if (event.target === search || event.ctrlKey || event.altKey || event.metaKey) return;
    const zooms = { "+": "1", "-": "-1", 0: "0" };
    if (event.key === "/") search.focus();
    else if (event.key in zooms) resize(zooms[event.key]);
    else {
      const next = event.target.closest && event.target.closest(".node") &&
        beside(event.target.closest(".node"), event.key);
      if (!next) return;
      next.focus({ preventScroll: true });
      reveal(next);
    }
    event.preventDefault();
  });
  resize("first");
  const first = nodes.find((node) => node.hasAttribute("aria-current"));
  if (first) reveal(first);
})();
)js";
}

}  // namespace dossier::research
