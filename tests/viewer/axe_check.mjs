// The viewer of `dossier serve` in headless Chromium with axe-core: SRV-62, SRV-64. By hand, since it needs both:
//
//   npm install puppeteer-core axe-core        (in the folder that it is run from)
//   node tests/viewer/axe_check.mjs http://127.0.0.1:8780 KEY RUN
//
// Each view, light and dark, 320 and 1280 pixels wide: no violation, no request to elsewhere, no error of the page,
// nothing that scrolls sideways; the arrow keys and Enter go to another turn. Exit 1 if something is wrong.
import fs from "fs";
import {createRequire} from "module";
import path from "path";
const require = createRequire(path.join(process.cwd(), "x.js"));
const puppeteer = (await import(require.resolve("puppeteer-core"))).default;
const [base, key, run] = process.argv.slice(2);
const browser = await puppeteer.launch({executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true, args: ["--no-sandbox"]});
const source = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
let bad = 0;
for (const scheme of ["light", "dark"]) for (const width of [320, 1280]) for (const view of ["", `/runs/${run}/1`, "/runs/none"]) {
  const page = await browser.newPage();
  await page.setBypassCSP(true);
  const foreign = []; const errors = [];
  page.on("request", (r) => { if (!r.url().startsWith(base)) foreign.push(r.url()); });
  page.on("pageerror", (e) => errors.push(String(e)));
  await page.setViewport({width, height: 800});
  await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: scheme}]);
  await page.goto(`${base}/#key=${key}${view || "/"}`); await new Promise((r) => setTimeout(r, 700));
  await page.evaluate(source);
  const result = await page.evaluate(() => axe.run());
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  console.log(scheme, width, view || "list", "violations", result.violations.map((v) => v.id + ":" + v.nodes.length).join(",") || 0, "foreign", foreign.length, "errors", errors.length, "scrolls sideways", wide);
  for (const v of result.violations) for (const n of v.nodes.slice(0, 2)) console.log("   ", v.id, n.html.slice(0, 140), n.failureSummary.split("\n")[1]);
  bad += result.violations.length + foreign.length + errors.length + (wide ? 1 : 0);
  await page.close();
}
// keyboard
const page = await browser.newPage();
await page.goto(`${base}/#key=${key}/runs/${run}/1`); await new Promise((r) => setTimeout(r, 700));
await page.focus('[role="treeitem"][tabindex="0"]'); await page.keyboard.press("ArrowDown"); await page.keyboard.press("Enter"); await new Promise((r) => setTimeout(r, 200));
console.log("keyboard:", await page.evaluate(() => location.hash + " " + document.querySelector("section h2").textContent));
await browser.close(); process.exit(bad ? 1 : 0);
