"""An engine that is played, for the tests of the scoreboard: it asks the model as engines do, and does one thing with cells.

usage: fake_engine.py through|refused|ended|late|hangs BASE_URL
"""

import contextlib
import io
import json
import re
import sys
import time
import urllib.request

LATE_SECONDS = 1.5


def main() -> None:
    kind, url = sys.argv[1], sys.argv[2]
    messages = [{"role": "user", "content": "Which word comes first?"}]
    names: dict = {}
    for turn in range(8):
        body = json.dumps({"model": "scripted", "messages": messages}).encode()
        request = urllib.request.Request(url + "/chat/completions", body, {"Content-Type": "application/json"})
        reply = json.loads(urllib.request.urlopen(request, timeout=60).read())["choices"][0]["message"]["content"]
        cell = re.search(r"```repl\n(.*?)\n```", reply, re.DOTALL)
        if not cell:
            print(reply)
            return
        said = io.StringIO()
        if turn == 0 and kind in ("ended", "late", "hangs", "refused"):
            if kind == "ended":
                sys.exit(1)
            time.sleep({"late": LATE_SECONDS, "hangs": 600, "refused": 0}[kind])
            said.write("PermissionError")
        else:
            with contextlib.redirect_stdout(said):
                try:
                    exec(cell[1], names)
                except Exception as error:
                    print(type(error).__name__)
        messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": said.getvalue()}]


if __name__ == "__main__":
    main()
