#!/usr/bin/env python3
"""Asks a real model a suite's questions in three forms and judges the three alike.

    bin/quarry-eval golden --suite testdata/questions/fit --corpus DIR --answers NEW \
        --missing CONVERSATIONS --model qwen2.5-coder:1.5b
    bench/questions/forms.py CONVERSATIONS testdata/questions/fit/tasks.json ANSWERS [HOST:PORT]

CONVERSATIONS are those that quarry would have with the model, with the evidence that search
finds. The forms differ in what stands behind the evidence:

    sentence   what quarry asks: a sentence with the names, then a piece's number, in a schema
    number     the number alone, in a schema: the first of two steps, since no words can mend it
    free       a sentence that ends with [n], in no schema

A number is right if its piece is of a file that answers; a question without an answer is
refused with 0. ANSWERS keeps what the model wrote, a line for each question: what is there is
not asked again, and without HOST:PORT (the Ollama's) nobody is asked.
"""

import collections
import json
import pathlib
import re
import sys
import urllib.request

NUMBER = '\n\n"best" is the number of the piece that answers the question; 0 if no piece does.'
FREE = (
    "\n\nAnswer in one sentence that ends with the number of the piece that shows it, such as [1]."
    " If no piece answers the question, write [0]."
)


def forms(conversation):
    """The messages, schema and limit of each form."""
    messages = [{"role": m["Role"], "content": m["Text"]} for m in conversation["Messages"]]
    evidence, shipped = messages[-1]["content"].split('\n\n"answer" is', 1)
    pieces = conversation["Format"]["properties"]["best"]
    schema = {"type": "object", "properties": {"best": pieces}, "required": ["best"]}
    for name, behind, form, limit in (
        ("sentence", '\n\n"answer" is' + shipped, conversation["Format"], conversation["MaxTokens"]),
        ("number", NUMBER, schema, 20),
        ("free", FREE, None, conversation["MaxTokens"]),
    ):
        yield name, messages[:-1] + [{"role": "user", "content": evidence + behind}], form, limit


def ask(host, messages, form, limit):
    """A model's likeliest answer."""
    body = {
        "model": "qwen2.5-coder:1.5b",
        "messages": messages,
        "stream": False,
        "keep_alive": "1h",
        "options": {"temperature": 0, "num_predict": limit, "num_ctx": 8192, "num_thread": 1},
    }
    if form:
        body["format"] = form
    request = urllib.request.Request(f"http://{host}/api/chat", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=1800) as reply:
        return json.load(reply)["message"]["content"]


def chosen(form, answer):
    """The number that an answer names, None if it names none."""
    if form == "free":
        numbers = re.findall(r"\[(\d+)\]", answer)
        return int(numbers[-1]) if numbers else None
    try:
        return json.loads(answer)["best"]
    except (ValueError, KeyError, TypeError):
        return None


def main(conversations, tasks, kept, host=None):
    tasks = {task["question"]: task for task in json.loads(pathlib.Path(tasks).read_text()) if "question" in task}
    kept = pathlib.Path(kept)
    known = {}
    if kept.exists():
        known = {line["id"]: line for line in map(json.loads, kept.read_text().splitlines())}
    counts = collections.defaultdict(collections.Counter)
    for line in pathlib.Path(conversations).read_text().splitlines():
        conversation = json.loads(line)["conversation"]
        text = conversation["Messages"][-1]["Text"]
        task = tasks[re.match(r"Question: (.*)", text).group(1)]
        one = known.get(task["id"])
        if one is None:
            if host is None:
                continue
            one = {"id": task["id"], "pieces": re.findall(r"^\[\d+\] (\S+)", text, re.M)}
            for form, messages, schema, limit in forms(conversation):
                one[form] = ask(host, messages, schema, limit)
            with kept.open("a") as file:
                file.write(json.dumps(one, ensure_ascii=False) + "\n")
            print(task["id"], file=sys.stderr)
        right = {place.rsplit(":", 1)[0] for place in task.get("places", [])}
        shown = bool(right.intersection(one["pieces"]))
        for form in ("sentence", "number", "free"):
            number, count = chosen(form, one[form]), counts[form]
            named = number is not None and 0 < number <= len(one["pieces"])
            if not right:
                count["unanswerable"] += 1
                count["refused"] += not named
                continue
            count["answerable"] += 1
            count["shown"] += shown
            count["right"] += named and one["pieces"][number - 1] in right
            count["other"] += named and one["pieces"][number - 1] not in right
    print("| form | a file that answers is shown | right | another | none | refused without an answer |")
    print("|---|---|---|---|---|---|")
    for form, c in counts.items():
        none = c["answerable"] - c["right"] - c["other"]
        print(f"| {form} | {c['shown']} of {c['answerable']} | {c['right']} | {c['other']} | {none} | {c['refused']} of {c['unanswerable']} |")


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
