"""Sets what the sweeps of configs/papers/ found beside what the five papers print and claim: docs/papers.md and docs/papers/.

    pip install -r requirements-checks.txt
    python docs/make_papers.py runs

Each paper has a folder of sweep files, a table of the numbers that these can be set beside (printed*.csv), and one of the numbers that they cannot
(not-judged.csv, with the reason); together these are all numbers of the paper's tables of results, each once. A sweep that reads the paper otherwise than another
one is named in other-readings.csv: numbers that both have, and claims of the same place, are counted of the other one; where no other one is named, because
the reading was found with its test values in view, nothing of it is counted. `method` confines a line to what names that method. Verdicts are those of reproduction.parquet and claims.parquet,
which `ranksweep run` writes. What a sweep gave is kept in docs/papers/results/, so that one can be run again without the others: those that
are not in the folder keep their lines. What was found out about the differences is written by hand, in docs/papers/notes/, and goes below the tables.
"""

import collections
import csv
import json
import re
import sys
from pathlib import Path

import duckdb

HERE = Path(__file__).parent
PAPERS = HERE.parent / "configs" / "papers"
OUT = HERE / "papers"
KEPT = OUT / "results"
TITLES = {
    "000": "A Theoretical Analysis of Recommendation Loss Functions under Negative Sampling",
    "001": "Towards Optimizing Top-K Ranking Metrics in Recommender Systems (SL@K)",
    "002": "Improving Training and Evaluation of Message-Passing based GNNs for top-k recommendation (ITEM)",
    "003": "On the Theories Behind Hard Negative Sampling for Recommendation",
    "004": "NDCG-Consistent Softmax Approximation with Accelerated Convergence (RG² and RG×)",
}
# What tells a printed number from others of the paper.
KEY = ["place", "dataset", "method", "metric", "cutoff"]
VERDICTS = ["reproduced", "contradicted"]
# Raised whenever the same trial would give other bits; a sweep's line says of which version it is.
TRAINER = int(re.search(r"TRAINER_VERSION: u32 = (\d+)", (HERE.parent / "trainer/src/trial.rs").read_text())[1])


def revisions_in(body):
    """The numbers that `fn revision` of a kind gives, which may depend on its settings."""
    given = {int(number) for number in re.findall(r"\b\d+\b", body)} or {0}
    return given | {number + 1 for number in given} if "u32::from" in body or "revision()" in body else given


# Losses, models and samplers that gave other numbers since then: the revisions of today, of which a trial says its own.
REVISIONS = {
    f"{crate}/{(path.parent.name if path.stem == 'mod' else path.stem).replace('_', '-')}": revisions_in(given[1])
    for crate in ("losses", "models", "samplers")
    for path in (HERE.parent / "trainer" / crate / "src").rglob("*.rs")
    if path.stem not in ("kind", "lib", "pool") and (given := re.search(r"fn revision\(&self\) -> u32 \{(.*?)\n    \}", path.read_text(), re.S))
}
# By how much a trial's settings raise the revision of its kind: `loss_revision` and `sampler_revision` of trainer/src/trial.rs.
BY_SETTINGS = {"models": 0, "losses": 1, "samplers": 2}
CLAIMS = ["holds", "reversed", "equivalent", "undecided", "missing"]


def rows(path, query="SELECT * FROM"):
    """A Parquet table as dictionaries."""
    found = duckdb.sql(f"{query} '{path}'")
    return [dict(zip(found.columns, row)) for row in found.fetchall()]


def lines(path):
    found = list(csv.DictReader(path.open())) if path.exists() else []
    if cut := [line for line in found if None in line or None in line.values()]:
        raise ValueError(f"{path}: {cut[0]} has other fields than the header; quote what has a comma")
    return found


def table(header, body):
    return f"| {' | '.join(header)} |\n|{'---|' * len(header)}\n" + "".join(f"| {' | '.join(map(str, line))} |\n" for line in body)


def found(storage, file):
    """What a sweep gave, read anew where it is in the storage; none where it was never run."""
    name = re.search(r"^name: (\S+)", file.read_text(), re.M)[1]
    folder, kept = storage / "sweeps" / name, KEPT / f"{name}.json"
    if (folder / "claims.parquet").exists():
        trials = rows(folder / "trials.parquet")
        planned = [method["configurations"][0]["trials"][0]["trial"] for method in json.loads((folder / "plan.json").read_text())["methods"]]
        result = {
            "numbers": rows(folder / "reproduction.parquet"),
            "claims": rows(folder / "claims.parquet"),
            "datasets": list(dict.fromkeys(trial["dataset"] for trial in trials)),
            "methods": len({trial["method"] for trial in trials}),
            "trials": len(trials),
            "seeds": sorted({trial["seed"] for trial in trials if trial["seed"] is not None}),
            "minutes": round(sum(trial["seconds"] or 0 for trial in trials) / 60),
            "failed": sum(trial["status"] in ("failed", "constant") for trial in trials),
            "version": re.search(r'^version = "(.*)"', (HERE.parent / "Cargo.toml").read_text(), re.M)[1],
            "trainer": planned[0]["version"],
            "revisions": dict(revision for trial in planned for revision in revisions(trial)),
        }
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return json.loads(kept.read_text()) if kept.exists() else None


def revisions(trial):
    """What a trial says of the revisions of its model, its sampler and its loss."""
    if "backbone_revision" in trial:
        yield f"models/{next(iter(trial['backbone']))}", trial["backbone_revision"]
    if "sampler_revision" in trial:
        yield f"samplers/{next(iter(trial['learning']['sampler']))}", trial["sampler_revision"]
    if "revision" in trial:
        yield f"losses/{next(iter(trial['learning']['loss']))}", trial["revision"]


class Paper:
    """A paper's sweeps, its numbers, and what became of them."""

    def __init__(self, storage, folder):
        self.id = folder.name
        self.sweeps = {file: found(storage, file) for file in sorted(folder.glob("*.yaml"))}
        self.run = {file: result for file, result in self.sweeps.items() if result}
        self.printed = [line for path in sorted(folder.glob("printed*.csv")) for line in lines(path)]
        self.others = lines(folder / "not-judged.csv")
        readings = folder / "other-readings.csv"
        self.readings = {line["sweep"]: line for line in lines(readings)}
        self.results = collections.defaultdict(list)
        for file, result in self.run.items():
            for row in result["numbers"]:
                key = (row["place"], row["dataset"], row["name"], row["metric"], str(row["cutoff"] or ""))
                self.results[key].append((file, row))
        self.said = collections.defaultdict(list)
        for file, result in self.run.items():
            for row in result["claims"]:
                self.said[tuple(row[key] for key in ("dataset", "place", "metric", "cutoff"))].append((file, row))

    def counted(self, found):
        """Of what several sweeps found of one number, or at one place that claims something, what is counted: not of another reading of a sweep that has it too."""
        sweeps = {file.stem for file, _ in found}

        def is_of_another(file, row):
            line = self.readings.get(file.stem)
            if line is None or line["method"] not in row.get("claim", row.get("method")):
                return False
            return not line["of"] or line["of"] in sweeps

        return [(file, row) for file, row in found if not is_of_another(file, row)]

    def found_in_view(self, key):
        """Whether a number has a result alone of a reading that was found with its test values in view."""
        return any(not self.readings.get(file.stem, {"of": file.stem})["of"] for file, _ in self.results.get(key, []))

    def result(self, line):
        """The sweep and the row of a number: of the sweep that is named after its table, where several have it."""
        table = line["place"].lower().replace(" ", "-").replace(".", "")
        found = self.counted(self.results.get(tuple(line[key] for key in KEY), []))
        return min(found, key=lambda one: not one[0].stem.startswith(table)) if found else None

    def numbers(self):
        """Each number that a sweep can be set beside: its line, the sweep, and the row of its result."""
        for line in self.printed:
            yield (line, *(self.result(line) or (None, None)))

    def states(self):
        """How many numbers are reproduced, contradicted, and not judged, by the reason."""
        judged, reasons = collections.Counter(), collections.Counter()
        for line, _, row in self.numbers():
            verdict = row and row["verdict"]
            if verdict in VERDICTS:
                judged[verdict] += 1
            elif row is None and self.found_in_view(tuple(line[key] for key in KEY)):
                reasons[IN_VIEW] += 1
            else:
                reasons[UNJUDGED[verdict]] += 1
        for line in self.others:
            reasons[line["reason"]] += 1
        return judged, reasons

    def different(self):
        """How many of the judged numbers are different ones: some stand in several tables of the paper."""
        judged = [line for line, _, row in self.numbers() if row and row["verdict"] in VERDICTS]
        return len({tuple(line[key] for key in ("dataset", "method", "metric", "cutoff", "value")) for line in judged})

    def earlier(self):
        """How many numbers were judged by an earlier version of the trainer, or of their model, loss or sampler."""
        return sum(row["verdict"] in VERDICTS and not self.is_of_now(self.run[file], row) for _, file, row in self.numbers() if row)

    @staticmethod
    def is_of_now(result, row):
        """Whether a row's training would give the same bits today: `mf-32 / bpr / uniform-1` has the model `mf`, the loss `bpr` and the sampler `uniform`."""
        kinds = [re.match("[a-z0-9-]*?(?=-[0-9]|[^a-z0-9-]|$)", part)[0] for part in row["method"].split(" / ")[:3]]
        of = [(f"{crate}/{kind}", more) for (crate, more), kind in zip(BY_SETTINGS.items(), kinds)]
        now = [{number + step for number in REVISIONS.get(kind, {0}) for step in range(more + 1)} for kind, more in of]
        return result["trainer"] == TRAINER and all(result.get("revisions", {}).get(kind, 0) in now for (kind, _), now in zip(of, now))

    def claims(self):
        """Each claim that was put to a test, with its sweep, in the order of the sweeps; one that several sweeps have is of the first of them."""
        once = {}
        for file, row in sorted((one for found in self.said.values() for one in self.counted(found)), key=lambda one: one[0]):
            once.setdefault(tuple(row[key] for key in ("dataset", "place", "claim", "metric", "cutoff")), (file, row))
        return list(once.values())

    def numbers_of_other_readings(self):
        """The lines of other readings, which are not counted: each with its sweep, and the row of its result."""
        for line in self.printed:
            found = self.results.get(tuple(line[key] for key in KEY), [])
            yield from ((line, *one) for one in found if one not in self.counted(found))

    def claims_of_other_readings(self):
        """Those of other readings, which are not counted."""
        return sorted((one for found in self.said.values() for one in found if one not in self.counted(found)), key=lambda one: one[0])


UNJUDGED = {
    None: "its sweep is written and was not run",
    "missing": "its training failed or was not run",
    "undecided": "undecided: their interval holds no difference as well as one beyond the margin",
}


IN_VIEW = "its reading was found with its test values in view: above, and not counted"


def percent(share):
    return f"{share:+.1%}"


def number_line(line, file, row):
    cells = [line["place"], line["dataset"], line["method"], f"{line['metric']}@{line['cutoff']}", line["value"]]
    if row is None or row["mean"] is None:
        return [*cells, "", "", "", "", "not run" if row is None else "no result yet"]
    printed = row["printed"]
    interval = "" if row["ci_low"] is None else f"{percent(row['ci_low'] / printed)} to {percent(row['ci_high'] / printed)}"
    verdict = row["verdict"] if row["verdict"] != "contradicted" else "**contradicted**"
    return [*cells, f"{row['mean']:.4f}", percent(row["difference"] / printed), interval, row["replicates"], verdict]


def claim_line(file, row):
    tested = row["difference"] is not None
    verdict = f"**{row['verdict']}**" if row["verdict"] == "reversed" else row["verdict"]
    if tested and row["over"] == "users":
        verdict += ", of these trained models"
    at = f"{row['metric']}@{row['cutoff']}"
    if not tested:
        return [row["place"], row["dataset"], row["claim"], at, "", "", "", "", verdict]
    interval = f"{row['difference']:+.4f} [{row['ci_low']:+.4f}, {row['ci_high']:+.4f}]" if row["ci_low"] is not None else f"{row['difference']:+.4f}"
    p = "< 0.001" if row["p_adjusted"] < 0.001 else f"{row['p_adjusted']:.3f}"
    return [row["place"], row["dataset"], row["claim"], at, percent(row["relative"]), interval, p, row["replicates"], verdict]


def link(file):
    return f"[{file.stem}](../../configs/papers/{file.parent.name}/{file.name})"


def sweep_line(file, result):
    if result is None:
        judges = re.search(r"^(printed|claims):", file.read_text(), re.M)
        return [link(file), "", "", "", "", "", "not run" if judges else "of the notes"]
    seeds = len(result["seeds"]) or 1
    failed = f", {result['failed']} failed" if result["failed"] else ""
    return [link(file), ", ".join(result["datasets"]), result["methods"], seeds, f"{result['trials']}{failed}", result["trainer"], result["minutes"]]


def in_words(counts, order):
    plural = {"holds": "hold", "missing": "without a result"}
    return ", ".join(f"{counts[name]} {plural.get(name, name)}" for name in order if counts[name])


def page(paper):
    judged, reasons = paper.states()
    claims, undecided = collections.Counter(row["verdict"] for _, row in paper.claims()), reasons[UNJUDGED["undecided"]]
    total = len(paper.printed) + len(paper.others)
    different = paper.different()
    different = "" if different == sum(judged.values()) else f"The judged ones are {different} different ones, as some stand in several tables.\n"
    text = f"""# Paper {paper.id}: {TITLES[paper.id]}

Made by `python docs/make_papers.py runs` from the tables of the sweeps below, or from docs/papers/results/ where a sweep was not run again; not
edited by hand but for the notes at its end. [statistics.md](../statistics.md#beside-a-paper) says how numbers and claims are judged.

Of {total} printed numbers {judged["reproduced"]} are reproduced, {judged["contradicted"]} are contradicted, {undecided} are undecided and
{total - sum(judged.values()) - undecided} are not judged.
{different}Of {sum(claims.values())} claims that were put to a test: {in_words(claims, CLAIMS) or "none yet"}.

## The sweeps

Minutes are those of training, of all trials together, on two cores beside other work. The version of the trainer is raised whenever a trial would
give other bits; it is {TRAINER} now.

{table(["sweep file", "datasets", "methods", "seeds", "trials", "trainer", "minutes"], [sweep_line(*item) for item in paper.sweeps.items()])}"""
    numbers = [found for found in paper.numbers() if found[2]]
    if numbers:
        header = ["in the paper", "dataset", "method", "metric", "printed", "ours", "difference", "interval of it", "seeds", "verdict"]
        text += f"\n## The numbers\n\n{table(header, [number_line(*found) for found in numbers])}"
    others = list(paper.numbers_of_other_readings())
    if others:
        text += f"""
### The same numbers by other readings

Not counted: of what the paper leaves open these sweeps have another reading.

{table(["sweep file", "reading", *header], [[link(file), paper.readings[file.stem]["reading"], *number_line(line, file, row)] for line, file, row in others])}"""
    if claims:
        header = ["in the paper", "dataset", "claim", "metric", "difference", "with its interval", "adjusted p", "seeds", "verdict"]
        text += f"\n## The claims\n\n{table(header, [claim_line(*claim) for claim in paper.claims()])}"
    others = paper.claims_of_other_readings()
    if others:
        text += f"""
### The same claims by other readings

Not counted: of what the paper leaves open these sweeps have another reading.

{table(["sweep file", "reading", *header], [[link(file), paper.readings[file.stem]["reading"], *claim_line(file, row)] for file, row in others])}"""
    text += f"\n## Undecided and not judged\n\n{table(['numbers', 'reason'], [[count, reason] for reason, count in reasons.most_common()])}"
    notes = OUT / "notes" / f"{paper.id}.md"
    if notes.exists():
        text += "\n" + re.sub(r"^# .*", "## Notes", notes.read_text().strip(), count=1) + "\n"
    (OUT / f"{paper.id}.md").write_text(text)


def summary(papers):
    body, claim_body, total = [], [], collections.Counter()
    for paper in papers:
        judged, reasons = paper.states()
        claims = collections.Counter(row["verdict"] for _, row in paper.claims())
        count = sum(judged.values()) + sum(reasons.values())
        waiting = reasons[UNJUDGED[None]]
        total.update(judged), total.update({"all": count, "waiting": waiting, "undecided": reasons[UNJUDGED["undecided"]], "claims": sum(claims.values())})
        total.update({f"claim {name}": claims[name] for name in CLAIMS})
        name = f"[{paper.id}](papers/{paper.id}.md): {TITLES[paper.id]}"
        undecided = reasons[UNJUDGED["undecided"]]
        body.append([name, count, judged["reproduced"], judged["contradicted"], undecided, sum(reasons.values()) - undecided, waiting])
        claim_body.append([name, sum(claims.values()), *[claims[verdict] for verdict in CLAIMS]])
    judged = total["reproduced"] + total["contradicted"]
    (HERE / "papers.md").write_text(f"""# The five papers, judged

Made by `python docs/make_papers.py runs`; not edited by hand. Every number of the tables of results of the five papers is in exactly one state:
**reproduced**, as the interval of the difference between our mean and the number lies within 5% of it; **contradicted**, as the two differ and are not known
to be so near; **undecided**, as neither can be told with the seeds there are; or **not judged**, for a reason that stands on the paper's page. Claims are
judged over users and seeds, those of how fast a method learns over seeds alone, adjusted after Holm for all claims of a sweep; one that sweeps of several
readings have is counted once.
[statistics.md](statistics.md#beside-a-paper) has the tests. Any line can be run again: `ranksweep run configs/papers/001/table-2-health.yaml` gives it in
`runs/sweeps/`, and `ranksweep report` shows it.

## Numbers

{judged} of {total["all"]} numbers are judged: {total["reproduced"]} reproduced, {total["contradicted"]} contradicted; {total["undecided"]} more are undecided. {sum(paper.different() for paper in papers)} of these are different
ones, as some stand in several tables of their paper, and {sum(paper.earlier() for paper in papers)} were judged by an earlier version of the trainer than the present {TRAINER}, which the pages of the papers name. For {total["waiting"]} more the sweep is written and was not
run.

{table(["paper", "numbers", "reproduced", "contradicted", "undecided", "not judged", "of these: sweep not run"], body)}
## Claims

{table(["paper", "claims tested", "hold", "reversed", "equivalent", "undecided", "without a result"], claim_body)}""")
    print(f"docs/papers.md: {judged} of {total['all']} numbers judged ({total['reproduced']} reproduced), {total['claims']} claims")


def main():
    storage = Path(sys.argv[1])
    papers = [Paper(storage, folder) for folder in sorted(PAPERS.iterdir()) if folder.is_dir()]
    OUT.mkdir(exist_ok=True)
    for paper in papers:
        page(paper)
    summary(papers)


main()
