// Reads YAML on stdin with npm's yaml of the folder that is named, prints JSON.
const { createRequire } = require("node:module");
const path = require("node:path");
const yaml = createRequire(path.join(process.argv[2], "package.json"))("yaml");
const text = require("node:fs").readFileSync(0, "utf8");
const document = yaml.parseDocument(text, { version: "1.2" });
if (document.errors.length || document.warnings.length) {
  console.error(String(document.errors[0] ?? document.warnings[0]));
  process.exit(1);
}
process.stdout.write(JSON.stringify(document.toJS()));
