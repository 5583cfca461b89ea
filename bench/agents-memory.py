#!/usr/bin/env python3
"""What three agents in one repository cost, with `quarry serve` and without: the memory of
each process (proportional set size, MB: shared pages are divided among who shares them) and
how long each waits for its first answer (s).

    bench/agents-memory.py bin/quarry TREE
"""

import json
import os
import subprocess
import sys
import tempfile
import time

QUARRY, TREE = os.path.abspath(sys.argv[1]), sys.argv[2]
AGENTS = 3
CALLS = [("search_code", {"query": "parse a path"}), ("search_symbols", {"query": "parse"}), ("repo_overview", {})]
QUIET = {"stderr": subprocess.DEVNULL}


def memory(process):
    with open(f"/proc/{process.pid}/smaps_rollup") as f:
        return next(int(line.split()[1]) // 1024 for line in f if line.startswith("Pss:"))


class Agent:
    def __init__(self, env):
        self.process = subprocess.Popen([QUARRY, "mcp"], cwd=TREE, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **QUIET)
        self.ask(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        for i, (name, arguments) in enumerate(CALLS):
            begin = time.time()
            self.ask(2 + i, "tools/call", {"name": name, "arguments": arguments})
            if i == 0:
                self.first = time.time() - begin

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, number, method, params):
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while json.loads(self.process.stdout.readline()).get("id") != number:
            pass


with tempfile.TemporaryDirectory(prefix="q") as state:
    env = dict(os.environ, QUARRY_STATE_DIR=state, HOME=state, QUARRY_OLLAMA_URL="http://127.0.0.1:1")
    subprocess.run([QUARRY, "index"], cwd=TREE, env=env, check=True, stdout=subprocess.DEVNULL, **QUIET)
    for served in (False, True):
        service = None
        if served:
            service = subprocess.Popen([QUARRY, "serve"], cwd=TREE, env=env, stdout=subprocess.DEVNULL, **QUIET)
            while not os.path.exists(os.path.join(state, "serve", "socket")):
                time.sleep(0.1)
        agents = [Agent(env) for _ in range(AGENTS)]
        time.sleep(3)  # what they load behind the answer
        sizes = [memory(a.process) for a in agents] + ([memory(service)] if service else [])
        print("with quarry serve:" if served else "without:         ", *sizes, "=", sum(sizes), "MB; first answers", *(f"{a.first:.2f}" for a in agents), "s")
        for a in agents:
            a.process.stdin.close()
            a.process.wait()
        if service:
            service.terminate()
            service.wait()
