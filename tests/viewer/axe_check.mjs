// The viewer of `dossier serve` in headless Chromium with axe-core: SRV-62, SRV-63, SRV-64, SRV-A16. By hand, since it
// needs both:
//
//   npm install puppeteer-core axe-core        (in the folder that it is run from)
//   node tests/viewer/axe_check.mjs http://127.0.0.1:8780 KEY RUN [LARGE_RUN]
//   node tests/viewer/axe_check.mjs file:///tmp/run.html          a page of `dossier runs export --format html`, the same way
//
// RUN has turns, code and sub-calls, and its texts may be hostile; LARGE_RUN has 10,000 calls. Each view, light and dark,
// 320, 900 and 1600 pixels wide: no violation, no request to elsewhere, no error of the page, no dialog (a text that was
// taken for HTML), nothing that scrolls sideways, at most 3,000 nodes; the tree by keys alone. SHOTS=FOLDER keeps a picture
// of each view; VIEWER=data/viewer shows the files of that folder instead of those in the command. Exit 1 if
// something is wrong.
import fs from "fs";
import {createRequire} from "module";
import path from "path";
const require = createRequire(path.join(process.cwd(), "x.js"));
const puppeteer = (await import(require.resolve("puppeteer-core"))).default;
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [base, key, run, large] = process.argv.slice(2);
const kMostNodes = 3000;
const browser = await puppeteer.launch({executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true, args: ["--no-sandbox"]});
let bad = 0;
const check = (what, fine, seen) => { if (!fine) { bad += 1; console.log("WRONG:", what, seen ?? ""); } };
const kPages = {"/": ["index.html", "text/html; charset=utf-8"], "/viewer.js": ["viewer.js", "text/javascript"], "/viewer.css": ["viewer.css", "text/css"]};

async function open(width, scheme) {
  const page = await browser.newPage();
  page.seen = {foreign: [], errors: [], dialogs: []};
  page.on("request", (request) => { if (!request.url().startsWith(base) && !request.url().startsWith("blob:")) page.seen.foreign.push(request.url()); });
  page.on("pageerror", (error) => page.seen.errors.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error" && !/404|409/.test(message.text())) page.seen.errors.push(message.text()); });
  page.on("dialog", (dialog) => { page.seen.dialogs.push(dialog.message()); dialog.dismiss(); });
  if (process.env.VIEWER) {
    await page.setRequestInterception(true);
    page.on("request", (request) => {
      const file = kPages[new URL(request.url()).pathname];
      if (!file) return request.continue();
      const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
      request.respond({headers: {"content-security-policy": policy}, contentType: file[1], body: fs.readFileSync(path.join(process.env.VIEWER, file[0]))});
    });
  }
  await page.setViewport({width, height: 900});
  await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: scheme}]);
  return page;
}
async function settle(page, what) {
  await page.waitForFunction(() => document.querySelector("main h1, main form"), {timeout: 30000});
  if (what) await page.waitForFunction((text) => document.querySelector("main").textContent.includes(text), {timeout: 60000}, what);
  await new Promise((r) => setTimeout(r, 400));
}
// One view: no violation, nothing that scrolls sideways, nothing that the page asked for or said.
async function look(page, where, most) {
  if (process.env.SHOTS) await page.screenshot({path: path.join(process.env.SHOTS, where.replaceAll(" ", "-") + ".png")});
  await page.evaluate(axe).catch(async () => page.addScriptTag({content: axe}));
  const result = await page.evaluate(() => window.axe.run());
  for (const one of result.violations) for (const node of one.nodes.slice(0, 2)) check(where, false, one.id + " " + node.html.slice(0, 160) + " " + node.failureSummary.split("\n")[1]);
  const at = await page.evaluate(() => ({wide: document.documentElement.scrollWidth > window.innerWidth, nodes: document.querySelectorAll("*").length}));
  check(where + ": scrolls sideways", !at.wide);
  check(where + ": nodes", at.nodes <= most, at.nodes);
  for (const [kind, list] of Object.entries(page.seen)) check(where + ": " + kind, list.length === 0, list.slice(0, 3));
  await page.close();
}
async function end() {
  console.log(bad ? `${bad} things are wrong` : "all views are fine");
  await browser.close();
  process.exit(bad ? 1 : 0);
}
// A page in a file, with all that it folds away unfolded.
if (base.startsWith("file:")) {
  for (const scheme of ["light", "dark"]) for (const width of [320, 900, 1600]) {
    const page = await open(width, scheme);
    await page.goto(base);
    await page.evaluate(() => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
    await look(page, `page ${scheme} ${width}`, Infinity);
  }
  await end();
}
const kViews = {
  list: ["/", "Begun"], search: ["/search/many", "Runs with"], summary: [`/runs/${run}`, "How it was begun"], turn: [`/runs/${run}/call/0/turn/1`, "Messages as sent"],
  request: [`/runs/${run}/call/0/request/1`, "As sent"], events: [`/runs/${run}/events`, "All events"], fork: [`/runs/${run}/fork/1`, "Last turn that stays"],
  diff: [`/diff/${run}/${large || run}`, "differ"], none: ["/runs/none", "This did not work"]};
for (const scheme of ["light", "dark"]) for (const width of [320, 900, 1600]) for (const [name, [address, what]] of Object.entries(kViews)) {
  const page = await open(width, scheme), where = `${name} ${scheme} ${width}`;
  await page.goto(`${base}/#key=${key}${address}`);
  await settle(page, what).catch((error) => check(where, false, String(error)));
  await look(page, where, kMostNodes);
}
// Keys alone: down to the first turn, unfold it, into it.
{
  const page = await open(1600, "light");
  await page.goto(`${base}/#key=${key}/runs/${run}`);
  await settle(page, "How it was begun");
  await page.focus('[role="treeitem"][tabindex="0"]');
  for (const press of ["ArrowDown", "ArrowRight", "ArrowRight", "Enter"]) { await page.keyboard.press(press); await new Promise((r) => setTimeout(r, 150)); }
  const hash = await page.evaluate(() => location.hash);
  check("keyboard", /call\/0\/(turn|request)\/\d+$/.test(hash), hash);
  await page.keyboard.press("Tab");
  const visible = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  check("the focus is seen", visible !== "none", visible);
  console.log("keyboard:", hash);
  await page.close();
}
if (large) {
  const page = await open(1600, "light"), begun = Date.now();
  await page.goto(`${base}/#key=${key}/runs/${large}/call/0/turn/1`);
  await page.waitForFunction(() => /ended/.test(document.getElementById("said").textContent), {timeout: 120000});
  await settle(page, "Messages as sent");
  const loaded = Date.now() - begun;
  await page.focus('[role="treeitem"][tabindex="0"]');
  await page.keyboard.press("ArrowRight");
  let slowest = 0;
  for (const press of ["End", "Home", "PageDown", "PageDown", "ArrowDown"]) {
    const from = Date.now();
    await page.keyboard.press(press);
    await page.evaluate(() => new Promise((r) => requestAnimationFrame(r)));
    slowest = Math.max(slowest, Date.now() - from);
  }
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  console.log(`large run: shown whole in ${loaded} ms, slowest key ${slowest} ms, ${nodes} nodes`);
  check("large run: nodes", nodes <= kMostNodes, nodes);
  check("large run: a key takes", slowest < 1000, slowest);
  if (process.env.SHOTS) await page.screenshot({path: path.join(process.env.SHOTS, "large.png")});
  await page.close();
}
await end();
