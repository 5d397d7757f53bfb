"""Shows that editors complete and check sweep files by the schema: asks yaml-language-server, as Visual Studio Code and others do.

    npm install --prefix target/editor yaml-language-server
    python .ci/editor.py target/debug/ranksweep target/editor/node_modules/.bin/yaml-language-server
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

SWEEP = """\
# yaml-language-server: $schema={schema}
name: editor
datasets:
  - {{name: d, source: {{format: synthetic}}, split: {{kind: random, test: 0.2}}}}
grid:
  - backbones: [{{kind: mf, dim: 8}}]
    losses:
      - {{kind: softmax-at-k, cutoff: 20, temprature: 0.1}}
      - kind: \n\
    samplers: [{{kind: uniform, negatives: 5}}]
    optimizer: {{kind: adam, learning_rate: 0.1}}
"""


class Server:
    """The server, spoken to over its standard input and output."""

    def __init__(self, command):
        self.process = subprocess.Popen([command, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last = 0

    def send(self, method, params, **more):
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def messages(self):
        while True:
            length = 0
            while line := self.process.stdout.readline().strip():
                name, _, value = line.partition(b":")
                length = int(value) if name == b"Content-Length" else length
            message = json.loads(self.process.stdout.read(length))
            if "method" in message and "id" in message:  # the server asks: nothing is configured
                asked = message["params"].get("items", []) if isinstance(message.get("params"), dict) else []
                body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": [None] * len(asked)}).encode()
                self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
                self.process.stdin.flush()
            yield message

    def ask(self, method, params):
        self.last += 1
        self.send(method, params, id=self.last)
        return next(message["result"] for message in self.messages() if message.get("id") == self.last and "result" in message)

    def wait_for(self, method):
        return next(message["params"] for message in self.messages() if message.get("method") == method)


def main(ranksweep, command):
    with tempfile.TemporaryDirectory() as folder:
        schema = Path(folder) / "ranksweep.schema.json"
        schema.write_text(subprocess.run([ranksweep, "schema"], check=True, capture_output=True, text=True).stdout)
        text, uri = SWEEP.format(schema=schema.as_uri()), (Path(folder) / "sweep.yaml").as_uri()
        server = Server(command)
        server.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        server.send("initialized", {})
        server.send("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "yaml", "version": 1, "text": text}})
        found = server.wait_for("textDocument/publishDiagnostics")["diagnostics"]
        lines = text.split("\n")
        kind = next(at for at, line in enumerate(lines) if line.endswith("kind: "))
        at = {"textDocument": {"uri": uri}, "position": {"line": kind, "character": len(lines[kind])}}
        completed = server.ask("textDocument/completion", at)
        offered = [item["label"] for item in (completed["items"] if isinstance(completed, dict) else completed)]
        over = {"textDocument": {"uri": uri}, "position": {"line": kind - 1, "character": lines[kind - 1].index("cutoff") + 1}}
        hover = server.ask("textDocument/hover", over)
        server.process.kill()
    for diagnostic in found:
        print(f"line {diagnostic['range']['start']['line'] + 1}: {diagnostic['message']}")
    print(f"{len(offered)} losses are offered: {', '.join(offered)}")
    print("hovering over `cutoff`:", hover and hover["contents"]["value"].strip().replace("\n", " ")[:300])
    if not any("temprature" in diagnostic["message"] for diagnostic in found):
        sys.exit("the slip `temprature` is not marked")
    if not {"bpr", "softmax-at-k", "sparsemax"} <= set(offered):
        sys.exit("losses are not offered")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
