#!/usr/bin/env python3
"""Serves a small embedding model as Ollama does, for evaluations that need real weights.

    testdata/models/jars.py MODEL PORT

MODEL is all-minilm, bge-small or e5-small: all-MiniLM-L6-v2, bge-small-en-v1.5 and e5-small-v2. Their
quantised weights (ONNX, 23 to 34 MB) and tokenizers lie in Maven's in-process jars
dev.langchain4j:langchain4j-embeddings-*-q, which Maven fetches and keeps in its own repository. Needs
mvn, and the Python packages onnxruntime, tokenizers and numpy. Texts are cut at 256 tokens. It serves
until it is stopped, on one core.
"""
import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy
import onnxruntime
import tokenizers

VERSION = "1.0.0-beta3"
# The jar of each model, and which of the last layer's vectors stand for a text, as its card has it.
MODELS = {"all-minilm": ("all-minilm-l6-v2-q", "mean"), "bge-small": ("bge-small-en-v15-q", "first"),
          "e5-small": ("e5-small-v2-q", "mean")}
TOKENS = 256


class Model:
    def __init__(self, name: str):
        jar, self.pooling = MODELS[name]
        artifact = f"langchain4j-embeddings-{jar}"
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact=dev.langchain4j:{artifact}:{VERSION}", f"-DoutputDirectory={folder}"],
                           check=True, cwd=folder, stdout=sys.stderr)
            files = zipfile.ZipFile(pathlib.Path(folder) / f"{artifact}-{VERSION}.jar")
            read = {suffix: files.read(next(n for n in files.namelist() if n.endswith(suffix))) for suffix in (".onnx", "tokenizer.json")}
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(read[".onnx"], options, providers=["CPUExecutionProvider"])
        self.tokenizer = tokenizers.Tokenizer.from_str(read["tokenizer.json"].decode())
        self.tokenizer.enable_truncation(TOKENS)

    def embed(self, text: str) -> list:
        """The vector of a text, of length 1."""
        ids = numpy.array([self.tokenizer.encode(text).ids], dtype=numpy.int64)
        layer = self.session.run(None, {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)})[0][0]
        vector = layer[0] if self.pooling == "first" else layer.mean(axis=0)
        return (vector / numpy.linalg.norm(vector)).tolist()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    name: str
    model: Model

    def answer(self, body: object, status: int = 200) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self) -> None:
        listed = [{"name": self.name + ":latest", "model": self.name + ":latest", "digest": self.name, "size": 34 << 20}]
        self.answer({"version": "0.17.4", "models": listed})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
        if self.path == "/api/show":
            self.answer({"capabilities": ["embedding"], "details": {"family": "bert"},
                         "model_info": {"general.architecture": "bert", "bert.context_length": TOKENS, "bert.embedding_length": 384}})
        elif self.path == "/api/embed":
            texts = asked.get("input") or []
            self.answer({"model": self.name, "embeddings": [self.model.embed(t) for t in ([texts] if isinstance(texts, str) else texts)]})
        else:
            self.answer({"error": "it only embeds"}, 404)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[1] not in MODELS:
        sys.exit(__doc__)
    Handler.name, Handler.model = sys.argv[1], Model(sys.argv[1])
    print(f"jars.py: {Handler.name} serves at http://127.0.0.1:{sys.argv[2]}", file=sys.stderr)
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()


if __name__ == "__main__":
    main()
