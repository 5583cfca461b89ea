"""Hosts the component as Zed does, with a scripted worktree, and prints what the component answers.

    python host.py COMPONENT < CASES > ANSWERS

CASES is a JSON list of {"which": path or null, "settings": object}, what Zed would find on the PATH and the user's
lsp.quarry settings. ANSWERS has for each one {"command", "options", "configuration"}: what came, or {"error": text}.
"""

import json
import sys
import tempfile

from wasmtime import Engine, Store, WasiConfig
from wasmtime.component import Component, Linker, ResourceHost, ResourceType, Variant

WORKTREE, PROJECT, STORE = 1, 2, 3  # the kinds of handles


def answer(engine, component, case):
    store = Store(engine)
    wasi = WasiConfig()
    wasi.env = [("PWD", "/")]  # asked for when the extension starts
    wasi.preopen_dir(tempfile.gettempdir(), "/")
    store.set_wasi(wasi)

    def on_worktree(answer):
        def called(_, worktree, *args):
            worktree.drop(store)  # it was lent
            return answer(*args)

        return called

    linker = Linker(engine)
    linker.allow_shadowing = True
    linker.add_wasip2()
    linker.define_unknown_imports_as_traps(component)
    with linker.root() as root:
        for name, kind in (("worktree", WORKTREE), ("project", PROJECT), ("key-value-store", STORE)):
            root.add_resource(name, ResourceType.host(kind), lambda *_: None)
        root.add_func("[method]worktree.id", on_worktree(lambda: 1))
        root.add_func("[method]worktree.root-path", on_worktree(lambda: "/work"))
        root.add_func("[method]worktree.which", on_worktree(lambda name: case["which"] if name == "quarry" else None))
        root.add_func("[method]worktree.shell-env", on_worktree(lambda: [("FROM", "the shell")]))
        root.add_func("get-settings", lambda _, *wanted: Variant("ok", json.dumps(case["settings"])))
    instance = linker.instantiate(store, component)

    def call(name, *args):
        return instance.get_func(store, name)(store, *args)

    def ask(name):
        result = call(name, "quarry", ResourceHost.borrow(1, WORKTREE).to_any(store))
        if isinstance(result, Variant):
            return {"error": result.payload} if result.tag == "err" else json.loads(result.payload or "null")
        if isinstance(result, str):  # of two kinds of result that differ, the host gets the bare value
            return {"error": result}
        return {"command": result.command, "args": result.args, "env": dict(result.env)}

    call("init-extension")
    return {
        "command": ask("language-server-command"),
        "options": ask("language-server-initialization-options"),
        "configuration": ask("language-server-workspace-configuration"),
    }


def main():
    engine = Engine()
    component = Component.from_file(engine, sys.argv[1])
    json.dump([answer(engine, component, case) for case in json.load(sys.stdin)], sys.stdout)


main()
