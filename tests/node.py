"""The page's JavaScript, run by node: what computes needs no browser."""

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from playground.page.controls import stage_table

PACKAGE = Path(__file__).parents[1] / "playground"

# One node for all tests, and a worker of its own for each script: it loads the modules anew, so that no test finds what
# another has left in them. To start a worker takes a twentieth of what node takes.
_NODE = """
import { createInterface } from "node:readline";
import { Worker } from "node:worker_threads";
const answerTo = (job) => new Promise((done) => {
  const failed = (error) => { answer = JSON.stringify({ error }); };
  let answer;
  failed("the script ended without an answer");
  const worker = new Worker(process.env.DRIVER, { eval: true, workerData: job });
  const late = setTimeout(() => { failed("no answer within two minutes"); worker.terminate(); }, 120_000);
  worker.on("message", (text) => { answer = text; });
  worker.on("error", (error) => failed(error?.stack ?? String(error)));
  worker.on("exit", () => { clearTimeout(late); done(answer); });
});
for await (const job of createInterface({ input: process.stdin })) console.log(await answerTo(job));
"""

# What comes out is JSON: typed arrays as lists, sets as lists, infinite numbers as text.
_DRIVER = """
import { parentPort, workerData } from "node:worker_threads";
const plain = (_key, value) =>
  ArrayBuffer.isView(value) ? Array.from(value)
  : value instanceof Set ? [...value]
  : typeof value === "number" && !Number.isFinite(value) ? String(value)
  : value;
const { modules, table, script, given } = JSON.parse(workerData);
const scope = { given };
for (const [name, url] of Object.entries(modules)) scope[name] = await import(url);
(await import(modules.stages)).useTable(table);
const act = new Function(...Object.keys(scope), `return (async () => { ${script} })();`);
parentPort.postMessage(JSON.stringify({ made: await act(...Object.values(scope)) }, plain));
"""


def in_node(script: str, given: Any = None, **modules: str) -> Any:
    """What `script` returns. It is the body of an async function that sees `given`, and the modules by their names.

    in_node("return axis.logMarks(given, 84)", 3072, axis="page/js/axis.js") gives [1, 10, 100, 3072]. The table of
    stages is in place. An error in the script fails the test with node's own words.
    """
    paths = {"stages": "page/js/stage_table.js"} | modules
    job = {
        "modules": {name: (PACKAGE / path).as_uri() for name, path in paths.items()},
        "table": stage_table(),
        "script": script,
        "given": given,
    }
    node = _node()
    node.stdin.write(json.dumps(job) + "\n")  # without line breaks: those inside are escaped
    node.stdin.flush()
    answer = json.loads(node.stdout.readline() or '{"error": "node has ended"}')
    assert "error" not in answer, answer["error"]
    return answer.get("made")


@cache
def _node() -> subprocess.Popen:
    """Ends with the tests, when its input does."""
    command = ["node", "--input-type=module", "-e", _NODE]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
    return subprocess.Popen(command, env=os.environ | {"DRIVER": _DRIVER}, **pipes)
