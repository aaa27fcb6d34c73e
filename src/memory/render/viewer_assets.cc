#include "memory/render/viewer.h"

namespace dossier::memory {

std::string_view ViewerStyle() {
  return R"css(
:root { color-scheme: light dark; --back: #f6f7f9; --card: #fff; --text: #1d2430; --dim: #5d6878;
  --line: #dde2e9; --accent: #2457c5; --soft: #e9effb; }
@media (prefers-color-scheme: dark) { :root { --back: #12161c; --card: #1a2028; --text: #e4e9f0;
  --dim: #98a3b3; --line: #2c3541; --accent: #84aefc; --soft: #1f2b40; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
[hidden] { display: none !important; }
header { position: sticky; top: 0; z-index: 1; background: var(--card);
  border-bottom: 1px solid var(--line); padding: .7rem 1.2rem; }
h1 { font-size: 1.05rem; margin: 0; display: inline; }
header small, .note, .none, .count { color: var(--dim); }
.slider { display: flex; gap: .8rem; align-items: center; margin-top: .4rem; }
.slider input { flex: 1; min-width: 0; accent-color: var(--accent); margin: 0; }
.slider output { color: var(--dim); font-variant-numeric: tabular-nums; min-height: 1.5em; display: block; }
#at { font-size: .85rem; color: var(--dim); min-height: 1.5em; overflow-wrap: anywhere; }
main { display: grid; grid-template-columns: minmax(11rem, 16rem) minmax(0, 1fr); gap: 1.2rem;
  padding: 1.2rem; max-width: 82rem; margin: 0 auto; align-items: start; }
nav { position: sticky; top: 6.6rem; max-height: calc(100vh - 7.8rem); overflow: auto; }
nav h2, .facts h2 { font-size: .75rem; text-transform: uppercase; letter-spacing: .06em;
  color: var(--dim); margin: 0 0 .4rem; font-weight: 600; }
nav a { display: block; color: inherit; text-decoration: none; padding: .15rem .5rem;
  border-radius: .35rem; overflow-wrap: anywhere; }
nav a:hover, nav a:focus-visible { background: var(--soft); color: var(--accent); }
nav .count { font-size: .8rem; }
ul { list-style: none; margin: 0; padding: 0; }
nav ul ul { border-left: 1px solid var(--line); margin-left: .8rem; padding-left: .3rem; }
.card, .facts { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  margin-bottom: 1rem; }
.card { scroll-margin-top: 7rem; }
.card > summary { padding: .7rem 1rem; cursor: pointer; font-weight: 600; overflow-wrap: anywhere; }
.card > summary .note { font-weight: 400; font-size: .85rem; }
.card:target { border-color: var(--accent); }
.group { padding: 0 1rem .8rem; }
.group h3 { font-size: .85rem; margin: .4rem 0 .2rem; color: var(--dim); font-weight: 600; }
.group li { border-top: 1px solid var(--line); padding: .35rem 0; display: grid;
  grid-template-columns: minmax(6rem, 12rem) minmax(0, 1fr); gap: 0 1rem; }
.label { font-weight: 600; overflow-wrap: anywhere; font-size: .9rem; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 16rem; overflow: auto; }
.note { font-size: .8rem; overflow-wrap: anywhere; }
.none { padding: 0 1rem .8rem; margin: 0; font-size: .9rem; }
.facts { padding: .8rem 1rem; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-top: 1px solid var(--line); }
th { color: var(--dim); font-weight: 600; border: 0; font-size: .85rem; }
td.number, th.number { text-align: right; }
@media (max-width: 44rem) {
  main { grid-template-columns: minmax(0, 1fr); padding: .8rem; gap: .8rem; }
  nav { position: static; max-height: 14rem; }
  header { padding: .6rem .8rem; }
  .group li { grid-template-columns: minmax(0, 1fr); }
}
)css";
}

std::string_view ViewerScript() {
  return R"js(
(() => {
  const writes = JSON.parse(document.getElementById("writes").textContent);
  const slider = document.getElementById("seq");
  const shown = document.getElementById("shown");
  const at = document.getElementById("at");
  const items = [...document.querySelectorAll("[data-spans]")].map((element) => ({
    element,
    spans: element.dataset.spans.split(" ").map((span) => span.split("-").map(Number)),
  }));
  const groups = [...document.querySelectorAll(".group")];
  const cards = [...document.querySelectorAll(".card")];
  const live = (element) => element.querySelectorAll("li:not([hidden])").length;
  const lastWrite = (seq) => {
    let low = 0, high = writes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (writes[middle][0] <= seq) low = middle + 1; else high = middle;
    }
    return writes[low - 1];
  };
  const show = () => {
    const seq = Number(slider.value);
    for (const { element, spans } of items) {
      element.hidden = !spans.some(([from, to]) => from <= seq && (!to || seq < to));
    }
    for (const group of groups) group.hidden = live(group) === 0;
    for (const card of cards) {
      const count = live(card);
      const none = card.querySelector(".none");
      if (none) none.hidden = count > 0;
      const entry = document.querySelector(`[data-count="${card.id}"]`);
      if (entry) entry.textContent = count || "";
    }
    shown.textContent = `${seq} of ${slider.max}`;
    const write = lastWrite(seq);
    at.textContent = write ? `${write[1]} · ${write[3]} in ${write[2]}` : "before the first write";
  };
  slider.addEventListener("input", show);
  show();
})();
)js";
}

}  // namespace dossier::memory
