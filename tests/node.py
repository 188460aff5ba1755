"""The page's JavaScript, run by node: what computes needs no browser."""

import json
import subprocess
from pathlib import Path
from typing import Any

from playground.page.controls import stage_table

PACKAGE = Path(__file__).parents[1] / "playground"

# Everything goes in by stdin, and comes out as JSON: typed arrays as lists, sets as lists, infinite numbers as text.
_DRIVER = """
import { readFileSync } from "node:fs";
const { modules, table, script, given } = JSON.parse(readFileSync(0));
const scope = { given };
for (const [name, url] of Object.entries(modules)) scope[name] = await import(url);
(await import(modules.stages)).useTable(table);
const plain = (_key, value) =>
  ArrayBuffer.isView(value) ? Array.from(value)
  : value instanceof Set ? [...value]
  : typeof value === "number" && !Number.isFinite(value) ? String(value)
  : value;
const act = new Function(...Object.keys(scope), `return (async () => { ${script} })();`);
console.log(JSON.stringify({ made: await act(...Object.values(scope)) }, plain));
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
    command = ["node", "--input-type=module", "-e", _DRIVER]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout).get("made")
