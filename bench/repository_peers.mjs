// CPU seconds of npm's readers and writers: node repository_peers.mjs FOLDER MODULES_FOLDER
// edn-data reads FOLDER/tasks.edn, gray-matter FOLDER/many, yaml writes a header.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [, , folder, modules] = process.argv;
const require = createRequire(`${modules}/package.json`);

function cpu(times, work) {
  const samples = [];
  for (let round = 0; round < 4; ++round) {
    const start = process.cpuUsage();
    for (let i = 0; i < times; ++i) work();
    const used = process.cpuUsage(start);
    samples.push((used.user + used.system) / 1e6 / times);
  }
  samples.shift(); // the first pays for compilation
  return samples.sort((a, b) => a - b)[1];
}

function report(name, median) {
  console.log(JSON.stringify({ name, median }));
}

const { parseEDNString } = require("edn-data");
const edn = readFileSync(`${folder}/tasks.edn`, "utf8");
report("edn-data", cpu(1, () => parseEDNString(edn, { mapAs: "object", keywordAs: "string" })));

const matter = require("gray-matter");
const notes = `${folder}/many/agent_notes`;
report("gray-matter", cpu(1, () => {
  for (const queue of readdirSync(notes)) {
    for (const name of readdirSync(`${notes}/${queue}`)) {
      matter(readFileSync(`${notes}/${queue}/${name}`, "utf8"), {});
    }
  }
}));

const yaml = require("yaml");
const seven = [0, 1, 2, 3, 4, 5, 6];
const header = {
  repo: { branch: "main", head: "0123456", recent_window: "180s" },
  pending: seven.map((i) => ({ id: `task-${200 + i}`, age: `${i + 2}m ago`,
                               files: ["src/auth/", "docs/api.md"] })),
  backlog: seven.map((i) => ({ id: `fact-00${i}`, summary: "Build src/factorial.py" })),
  hotspots: [{ path: "scratch/2026-01-17__a__b.md", age: "just now" }],
  targets: ["src/factorial.py", "tests/test_factorial.py"],
  policy: ["patch-only", ".agent/* only", "minimal diff", "respect targets", "+≤800 lines",
           "files≤10"],
  next_work: ["CTO: review task-200 (2m ago)", "Engineer: pick fact-000 — Build src/factorial.py"],
  mode: "propose",
};
report("yaml", cpu(500, () => yaml.stringify(header, { defaultStringType: "QUOTE_DOUBLE" })));
