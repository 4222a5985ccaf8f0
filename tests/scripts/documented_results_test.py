#!/usr/bin/env python3
"""What a page calls a result can be looked up. A paragraph, table or item of the sections where pages tell results has the
name of an experiment (`lazarus/fig9`, in a system's own page also `fig9`, with variants and axes where it is of some:
`fig9 ds model=gpt-l`), or a command that makes it. What is named has samples in the published set, unless
results/published.txt says what it needs. Numbers of a GPU are in the set as that machine's session, or are not told."""
import json
import os
import re
import sqlite3
import sys

SYSTEMS = ("lazarus", "lte", "hetermoe", "plato", "dr_post_training", "decode")
PAGES = [f"impls/{system}/README.md" for system in SYSTEMS] + ["impls/lazarus/FINDINGS.md", "README.md"]
TELLS_RESULTS = re.compile(r"found|measured|costs \(|figures by simulation|learning by reward|findings", re.I)
NUMBER = re.compile(r"\d+\.\d+|\d+ ?%|\b\d+ times\b|\b\d+ (?:ms|s|min|tokens/s)\b")
COMMAND = re.compile(r"assay (?:run|reproduce|calibrate|campaign|plan|model|claims|compare|data)\b|_benchmark\b|_test\b|scripts/")
GPU = re.compile(r"\b(?:an|one|on|that) (?:\w+ )?(H100|H200|A100)\b")
SPAN = re.compile(r"`([^`]+)`")


def published_lines():
    recorded, needs = set(), set()
    with open("results/published.txt", encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            ids = words[: next((i for i, word in enumerate(words) if word.startswith("-")), len(words))]
            (needs if "--" in words else recorded).update(ids)
    return recorded, needs


def published_samples():
    """experiment → [(variant, axes as text → text)], and the GPUs that measured."""
    found, machines = {}, ""
    with sqlite3.connect("file:results/published.db?mode=ro", uri=True) as db:
        for experiment, variant, axes in db.execute("SELECT DISTINCT experiment, variant, axes FROM results WHERE status = 'ok'"):
            values = {name: str(value) for name, value in json.loads(axes).items()}
            found.setdefault(experiment, []).append((variant, values))
        machines = str(db.execute("SELECT * FROM machine").fetchall())
    return found, machines


recorded, needs = published_lines()
samples, machines = published_samples()
known = recorded | needs


def experiment_of(span, system):
    """("fig9", "lazarus") → "lazarus/fig9", with what else the span says; None: it names no experiment."""
    words = span.split()
    name = words[0]
    if name.count("/") > 1:  # of a claim
        name, words = "/".join(name.split("/")[:2]), []
    for full in (name, f"{system}/{name}"):
        if full in known:
            return full, words[1:]
    return None


def has_samples(experiment, words):
    axes = dict(word.split("=", 1) for word in words if "=" in word)
    variants = [word for word in words if "=" not in word]
    return any(
        all(values.get(name) in value.split(",") for name, value in axes.items()) and (not variants or variant in variants)
        for variant, values in samples.get(experiment, [])
    )


def blocks(lines):
    """(number of the first line, text) of paragraphs, items and tables; a heading and a table go with what follows or leads."""
    block, first, fenced = [], 0, False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        starts = re.match(r"#|\* |[-*] |\d+\. ", line) is not None
        if not fenced and (not line.strip() or starts) and block:
            yield first, "\n".join(block)
            block = []
        if line.strip() or fenced:
            if not block:
                first = number
            block.append(line)
    if block:
        yield first, "\n".join(block)


problems = []
for page in PAGES:
    system = page.split("/")[1] if page.startswith("impls/") else ""
    with open(page, encoding="utf-8") as text:
        lines = text.read().split("\n")
    telling, heading_names, carried = page.endswith("FINDINGS.md"), False, False
    for number, block in blocks(lines):
        spans = [re.sub(r"^build/cpu/bin/", "", span) for span in SPAN.findall(re.sub(r"\s+", " ", block.replace("```", "")))]
        # "fig9 --mode measured" is a command without its first words.
        named = [found for found in (experiment_of(span, system) for span in spans if " -" not in span) if found]
        for experiment, words in named:
            if experiment in samples and not has_samples(experiment, words):
                problems.append(f"{page}:{number}: no sample of {experiment} {' '.join(words)} in the published set")
            if experiment not in samples and experiment in recorded:
                problems.append(f"{page}:{number}: {experiment} is not recorded: scripts/publish-results {experiment}")
        names = bool(named) or any(COMMAND.search(span) or " -" in span for span in spans) or "```" in block
        if block.startswith("#"):
            level_two = not block.startswith("###")
            if level_two:
                telling = page.endswith("FINDINGS.md")
            telling = telling or TELLS_RESULTS.search(block) is not None
            heading_names, carried = names, names
            continue
        if telling and NUMBER.search(re.sub(r"arXiv \S+|section \S+|Fig\. \S+|\[[^]]*\]\([^)]*\)", "", block)):
            # A table, or a paragraph that is indented, goes on with what stands before it.
            goes_on = block[0] in "| " and carried
            if not names and not heading_names and not goes_on:
                problems.append(f"{page}:{number}: names no experiment and no command: {block[:90]!r}")
        if telling and "simulated" not in block and "emulated" not in block:
            for gpu in GPU.findall(block):
                if gpu not in machines and NUMBER.search(block):
                    problems.append(f"{page}:{number}: tells of one {gpu}, of which the set has no session")
        if block[0] not in "| ":
            carried = names
print("\n".join(problems) or "every result can be looked up")
sys.exit(bool(problems))
