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
main { display: grid; grid-template-columns: minmax(17rem, 26rem) minmax(0, 1fr); gap: 1.2rem;
  padding: 1.2rem; max-width: 96rem; margin: 0 auto; align-items: start; }
nav { position: sticky; top: 1.2rem; max-height: calc(100vh - 2.4rem); overflow: auto; }
h2 { font-size: .82rem; color: var(--dim); margin: .8rem 0 .3rem; font-weight: 600;
  overflow-wrap: anywhere; }
nav h2:first-child { margin-top: 0; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav ul ul { border-left: 1px solid var(--line); margin-left: .7rem; padding-left: .4rem; }
nav a { display: flex; gap: .5rem; align-items: baseline; color: inherit; text-decoration: none;
  padding: .15rem .4rem; border-radius: .35rem; }
nav a:hover, nav a:focus-visible, nav a[aria-current] { background: var(--soft); }
nav a[aria-current] { box-shadow: inset 2px 0 var(--accent); }
.mark { width: 1ch; font-weight: 700; flex: none; }
.best .mark { color: var(--accent); } .good .mark { color: var(--good); }
.buggy .mark { color: var(--bad); }
.id { font-family: ui-monospace, monospace; font-size: .85rem; }
.metric { color: var(--dim); font-size: .85rem; margin-left: auto; text-align: right;
  overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
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
@media (max-width: 52rem) { main { grid-template-columns: minmax(0, 1fr); padding: .8rem; }
  nav { position: static; max-height: 18rem; } }
)css";
}

std::string_view TreePageScript() {
  return R"js(
(() => {
  const data = JSON.parse(document.getElementById("texts").textContent);
  const articles = [...document.querySelectorAll("article")];
  const links = [...document.querySelectorAll("nav a")];
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
    for (const link of links) {
      if (found && link.hash === `#${found.id}`) {
        link.setAttribute("aria-current", "true");
        link.scrollIntoView({ block: "nearest" });
      } else link.removeAttribute("aria-current");
    }
  };
  addEventListener("hashchange", show);
  show();
})();
)js";
}

}  // namespace dossier::research
