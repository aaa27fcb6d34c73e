// How long gpt-tokenizer takes for a file, as CPU seconds: node token_peers.mjs FILE MODULES_FOLDER
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , file, modules] = process.argv;
const text = readFileSync(file, "utf-8");
for (const name of ["cl100k_base", "o200k_base"]) {
  const path = `${modules}/gpt-tokenizer/esm/encoding/${name}.js`;
  const { countTokens } = await import(pathToFileURL(path).href);
  const times = [];
  let tokens = 0;
  for (let run = 0; run < 4; ++run) {
    const start = process.cpuUsage();
    tokens = countTokens(text);
    const used = process.cpuUsage(start);
    times.push((used.user + used.system) / 1e6);
  }
  times.shift(); // the first pays for compilation
  times.sort((a, b) => a - b);
  console.log(JSON.stringify({ name, median: times[1], tokens }));
}
