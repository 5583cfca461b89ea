#!/usr/bin/env python3
"""Asks semble the questions that quarry's search is measured by, without semble's model.

    python3 -m pip install semble==0.7.0
    bench/peer/rank_semble.py public --repos DIR/repos.json --annotations DIR/annotations --corpus CHECKOUTS
    bench/peer/rank_semble.py public --repos testdata/rank/repos.json --annotations testdata/rank/questions --corpus DIR
    bench/peer/rank_semble.py newcomer --corpus TREES [--half held] [--only NAME,NAME]

The ranking is semble's own: its chunks, its BM25 over them, its boosts for names, definitions and files
with several chunks, and its penalties for paths (semble.search.search with alpha 0, so that vectors count
nothing); --raw is BM25 alone. Code alone is indexed, as semble does by itself. Thirty chunks are asked for
and folded to the first ten files, each shown by its first chunk, as quarry shows a file once.

Figures are those of `quarry-eval retrieval` and `quarry-eval newcomer`, and defined as there
(retrieval/eval/metric.go, bench/retrieval.md); of the half that is held back only means are printed.
"""
import argparse
import collections
import hashlib
import json
import math
import pathlib

import numpy
from semble.index.create import create_index_from_path
from semble.search import _search_bm25, search

CUTOFF = 10  # files
CHUNKS = 30


class NoModel:
    """Stands where semble's model would; alpha 0 keeps it from counting."""

    dim = 1

    def encode(self, texts, **_):
        return numpy.ones((len(texts), 1), dtype=numpy.float32)


class Index:
    def __init__(self, root: pathlib.Path):
        self.bm25, self.vectors, self.chunks, _ = create_index_from_path(root.resolve(), model=NoModel(), display_root=root.resolve())

    def ask(self, query: str, raw: bool) -> list:
        """The first ten files, each as (path, first line, last line) of its first chunk."""
        if raw:
            found = _search_bm25(query, self.bm25, self.chunks, CHUNKS, None)
        else:
            found = search(query, NoModel(), self.vectors, self.bm25, self.chunks, CHUNKS, alpha=0.0)
        files = {}
        for r in found:
            files.setdefault(r.chunk.file_path, (r.chunk.file_path, r.chunk.start_line, r.chunk.end_line))
        return list(files.values())[:CUTOFF]


def same_path(a: str, b: str) -> bool:
    a, b = sorted((a, b), key=len)
    return a == b or b.endswith("/" + a)


def matches(target: dict, shown: tuple) -> bool:
    path, first, last = shown
    if not same_path(target["path"], path):
        return False
    return not target.get("start_line") or target["start_line"] <= last and first <= target["end_line"]


def ndcg(targets: list, shown: list) -> float:
    ranks = {next((i + 1 for i, s in enumerate(shown) if matches(t, s)), 0) for t in targets} - {0}
    ideal = sum(1 / math.log2(i + 1) for i in range(1, min(CUTOFF, len(targets)) + 1))
    return sum(1 / math.log2(r + 1) for r in ranks) / ideal


def mean(values) -> float:
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def headline(rows: list, figure: str) -> float:
    """The mean over repositories of each one's mean."""
    by = collections.defaultdict(list)
    for r in rows:
        by[r["repository"]].append(r[figure])
    return mean(mean(v) for v in by.values())


def show(name: str, rows: list, figures: list, over_repositories: bool) -> None:
    if rows:
        values = "  ".join(f"{f} {headline(rows, f) if over_repositories else mean(r[f] for r in rows):.3f}" for f in figures)
        print(f"{name:22} {len(rows):4}  {values}")


def public(args) -> None:
    rows = []
    for r in json.load(open(args.repos)):
        if args.only and r["name"] not in args.only:
            continue
        base = pathlib.Path(args.corpus) / r["name"]
        root = r.get("benchmark_root") or r.get("root") or ""
        index = Index(base / root)
        for q in json.load(open(pathlib.Path(args.annotations) / (r["name"] + ".json"))):
            targets = [{"path": t} if isinstance(t, str) else t for t in q["relevant"] + q.get("secondary", [])]
            shown = [((f"{root}/" if root else "") + p, a, b) for p, a, b in index.ask(q["query"], args.raw)]
            best = next((i + 1 for i, s in enumerate(shown) if any(matches(t, s) for t in targets)), 0)
            rows.append({"repository": r["name"], "kind": q["category"], "NDCG@10": ndcg(targets, shown),
                         "hit@1": best == 1, "hit@5": 0 < best <= 5})
    figures = ["NDCG@10", "hit@1", "hit@5"]
    for kind in sorted({r["kind"] for r in rows}):
        show(kind, [r for r in rows if r["kind"] == kind], figures, False)
    show("overall", rows, figures, True)


def newcomer(args) -> None:
    set_ = pathlib.Path(args.questions)
    if args.half == "held" and args.only:
        raise SystemExit("rank_semble.py: --only is for the fit half; the held one is asked as a whole")
    rows = []
    for r in json.load(open(set_ / "repositories.json")):
        held = hashlib.sha256(r["name"].encode()).digest()[0] % 2 == 1
        if held != (args.half == "held") or args.only and r["name"] not in args.only:
            continue
        index = Index(pathlib.Path(args.corpus) / r["name"])
        for q in json.load(open(set_ / "questions" / (r["name"] + ".json"))):
            answers = []
            for a in q["answers"]:
                path, _, lines = a.rpartition(":")
                first, _, last = lines.partition("-")
                answers.append((path, int(first), int(last or first)))
            shown = index.ask(q["question"], args.raw)
            file = next((i + 1 for i, s in enumerate(shown) if any(a[0] == s[0] for a in answers)), 0)
            place = next((i + 1 for i, s in enumerate(shown) if any(a[0] == s[0] and a[1] <= s[2] and s[1] <= a[2] for a in answers)), 0)
            rows.append({"repository": r["name"], "kind": q["kind"], "NDCG@10": 1 / math.log2(file + 1) if file else 0.0, "file@1": file == 1,
                         "file@5": 0 < file <= 5, "place@1": place == 1, "place@5": 0 < place <= 5})
    figures = ["NDCG@10", "file@1", "file@5", "place@1", "place@5"]
    show("questions", [r for r in rows if r["kind"] != "message"], figures, True)
    show("messages", [r for r in rows if r["kind"] == "message"], figures, True)
    for kind in ("behaviour", "architecture", "symbol"):
        show(kind, [r for r in rows if r["kind"] == kind], figures, False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sets = parser.add_subparsers(required=True)
    for run in (public, newcomer):
        p = sets.add_parser(run.__name__)
        p.set_defaults(run=run)
        p.add_argument("--corpus", required=True)
        p.add_argument("--only", type=lambda s: s.split(","))
        p.add_argument("--raw", action="store_true")
        if run is public:
            p.add_argument("--repos", required=True)
            p.add_argument("--annotations", required=True)
        else:
            p.add_argument("--questions", default="testdata/newcomer")
            p.add_argument("--half", choices=("fit", "held"), default="fit")
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
