"""Every series, and what every experiment declares, is what tests/golden/series.json says.

A series is followed through months and compared with others by what identifies it: variant, case,
profile, provenance, faults, calibration. Whatever changes that ends it, silently. ASSAY: the
program. `--record` writes the file anew, where the change is meant; say so in CHANGELOG.md.
"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile

golden = "tests/golden/series.json"
program = os.environ.get("ASSAY", "build/cpu/bin/assay")
profiles = ["toy", "small", "gpu", "cluster", "paper"]
provenances = ["exact", "measured", "emulated", "simulated"]
prose = {"title", "says", "source", "claims", "claim_values", "x_title", "y_title"}


def digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def without_prose(value):
    if isinstance(value, dict):
        return {key: without_prose(member) for key, member in value.items() if key not in prose}
    return [without_prose(member) for member in value] if isinstance(value, list) else value


def output(*arguments):
    with tempfile.TemporaryDirectory() as nothing:  # no data sets: they are part of a series
        ran = subprocess.run([program, *arguments, "--json"], capture_output=True, text=True,
                             env={**os.environ, "XDG_DATA_HOME": nothing})
    if ran.returncode == 0:
        return json.loads(ran.stdout)
    if "nothing to run" in ran.stderr:
        return None
    sys.exit(f"assay {' '.join(arguments)}: exit code {ran.returncode}\n{ran.stderr}")


def planned(profile, provenance, *arguments):
    """Of each experiment a digest of its samples, "all": with calibrations; what stands in for data sets."""
    plan = output("run", *arguments, "--profile", profile, "--mode", provenance, "--dry-run")
    if not plan:
        return {}, []
    samples = {}
    for sample in plan["samples"]:
        what = [sample[key] for key in ("variant", "case", "seed", "round", "scenario")]
        samples.setdefault(sample["experiment"], []).append(what)
    return {"all": plan["hash"]} | {name: digest(of) for name, of in samples.items()}, plan["stand_ins"]


def with_data(profile, provenance):
    """The same, of an experiment that lacks a data set both with it and without."""
    series, stand_ins = planned(profile, provenance, "all")
    for stand_in in stand_ins:
        name = stand_in["experiment"]
        series["without data: " + name] = series[name]
        asked, _ = planned(profile, provenance, name, "-a", f"{stand_in['axis']}={stand_in['absent']}")
        series[name] = asked[name]
    return series


def found():
    series = {f"{profile} {provenance}": with_data(profile, provenance)
              for profile in profiles for provenance in provenances}
    declared = {experiment["id"]: digest(without_prose(experiment))
                for experiment in output("describe", "*")}
    return {"declared": declared} | {name: of for name, of in series.items() if of}


now = found()
if sys.argv[1:] == ["--record"]:
    with open(golden, "w") as file:
        json.dump(now, file, indent=1, sort_keys=True)
        file.write("\n")
    sys.exit()
with open(golden) as file:
    recorded = json.load(file)
wrong = []
for name in sorted({*now, *recorded}):
    ours, theirs = now.get(name, {}), recorded.get(name, {})
    differ = [key for key in sorted({*ours, *theirs}) if ours.get(key) != theirs.get(key)]
    if differ == ["all"]:
        differ = ["calibrations or faults, in one of its experiments"]
    if differ:
        wrong.append(f"{name}: {', '.join(key for key in differ if key != 'all')}")
if wrong:
    sys.exit("What is declared, or series, differ from " + golden + ":\n  " + "\n  ".join(wrong) +
             "\nOlder samples do not go with newer ones then. Where that is meant: "
             "tests/scripts/series_test.py --record")
