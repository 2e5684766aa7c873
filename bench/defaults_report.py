"""Tables of the benchmark of defaults: means, ranks, sizes, times, and where MiniRocket is better."""

import statistics

import defaults_sets as sets

KEY = ("set", "contestant", "protocol", "seed")
FIGURES = ("accuracy", "size_kb", "train_cpu_s", "predict_cpu_s")
COLUMNS = [*KEY, *FIGURES, "why", "flags", "version"]


def line(row):
    """One row for a person who waits."""
    where = " ".join(str(row[name]) for name in KEY)
    if row["accuracy"] is None:
        return f"{where}: {row['why']}"
    notes = "".join(f"\n    {note}" for note in row.get("notes", ()))
    return f"{where}: {100 * row['accuracy']:.1f} %, {row['size_kb']:.1f} KB, {row['train_cpu_s']:.1f} s of training{notes}"


def sources(folders):
    """Where the sets come from, as Markdown."""
    lines = ["| set | from | found in | data by | terms of the data |", "|---|---|---|---|---|"]
    for name in sets.names(folders):
        found, source = sets.find(name, folders), sets.SETS.get(name)
        packages = ", ".join(f"{package} ({sets.PACKAGE_LICENCES[package]})" for package in source.packages) if source else "a folder"
        lines.append(f"| {name} | {packages} | {found.package if found else 'not installed'} | {source.about if source else ''} "
                     f"| {source.licence if source else ''} |")
    return "\n".join(lines)


def tables(machine, rows, skipped):
    text = [f"{machine.get('processor', 'unknown processor')}, {machine.get('cores', '?')} cores, one thread; {machine.get('date', '')}. {machine.get('note', '')}".strip(), ""]
    for protocol in sorted({row["protocol"].split("-")[0] for row in rows}, reverse=True):
        text += section(protocol, [row for row in rows if row["protocol"].split("-")[0] == protocol])
    text += versions(rows)
    text += [f"Left out: {label}: {reason}." for label, reason in skipped.items() if label not in {row["contestant"] for row in rows}]
    return "\n".join(text) + "\n"


class Table:
    """Figures by set and contestant, over seeds."""

    def __init__(self, rows):
        seen = dict.fromkeys(row["set"] for row in rows)
        self.sets = [name for name in sets.SETS if name in seen] + [name for name in seen if name not in sets.SETS]
        self.contestants = list(dict.fromkeys(row["contestant"] for row in rows))
        self.facts = {row["set"]: row["set_facts"] for row in rows}
        self.rows = rows

    def values(self, name, contestant, figure):
        return [row[figure] for row in self.rows
                if row["set"] == name and row["contestant"] == contestant and row[figure] is not None]

    def mean(self, name, contestant, figure="accuracy"):
        values = self.values(name, contestant, figure)
        return statistics.fmean(values) if values else None

    def complete(self):
        """Sets where every contestant has a figure."""
        return [name for name in self.sets if all(self.mean(name, c) is not None for c in self.contestants)]


def section(protocol, rows):
    table = Table(rows)
    title = "Test parts, each judged once by each model" if protocol == "test" else "Stratified folds of the training parts; no test part was used"
    text = [f"## {title}", "", *accuracies(table), ""]
    text += ["### Size in KB", "", *figures(table, "size_kb"), "", "### Processor seconds of training", "", *figures(table, "train_cpu_s"), ""]
    if protocol == "test":
        text += ["### Processor seconds of predicting the test part", "", *figures(table, "predict_cpu_s"), ""]
    for other in [c for c in table.contestants if c.startswith("ernn")]:
        if "minirocket" in table.contestants:
            text += [*against(table, other, "minirocket"), ""]
    failed = [f"- {row['set']}, {row['contestant']}, seed {row['seed']}: {row['why']}" for row in rows if row["accuracy"] is None]
    return [*text, *(["Without a figure:", "", *failed, ""] if failed else [])]


def header(table, first):
    return [f"| {first} | {' | '.join(table.contestants)} |", "|---|" + "---:|" * len(table.contestants)]


def accuracies(table):
    """Percent, mean and deviation over the seeds; means and ranks over the sets that all have."""
    text = header(table, "set (training + test sequences, channels x steps, classes)")
    for name in table.sets:
        f = table.facts[name]
        steps = f"{f['shortest']}" if f["shortest"] == f["longest"] else f"{f['shortest']}-{f['longest']}"
        about = f"{name} ({f['train']} + {f['test']}, {f['channels']} x {steps}, {f['classes']})"
        text.append(f"| {about} | {' | '.join(spread(table.values(name, c, 'accuracy')) for c in table.contestants)} |")
    complete = table.complete()
    if complete:
        means = [100 * statistics.fmean(table.mean(name, c) for name in complete) for c in table.contestants]
        ranked = [ranks([table.mean(name, c) for c in table.contestants]) for name in complete]
        text.append(f"| **mean of {len(complete)} sets** | {' | '.join(f'**{mean:.1f}**' for mean in means)} |")
        text.append(f"| **mean rank** | {' | '.join(f'**{statistics.fmean(r):.2f}**' for r in zip(*ranked))} |")
    if len(complete) < len(table.sets):
        text += ["", f"Means and ranks are of the sets that all have: {', '.join(complete) or 'none'}."]
    return text


def spread(values):
    if not values:
        return ""
    deviation = f" ± {100 * statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{100 * statistics.fmean(values):.1f}{deviation}"


def ranks(values):
    """1 is best; equal ones share the mean of their places."""
    return [statistics.fmean([sum(other > value for other in values) + 1, sum(other >= value for other in values)]) for value in values]


def figures(table, figure):
    text = header(table, "set")
    for name in table.sets:
        means = [table.mean(name, c, figure) for c in table.contestants]
        text.append(f"| {name} | {' | '.join('' if mean is None else f'{mean:.1f}' if mean < 100 else f'{mean:,.0f}' for mean in means)} |")
    return text


def against(table, own, other):
    """Plainly: where the other is better, by how much, at how many times the size."""
    both = [name for name in table.sets if table.mean(name, own) is not None and table.mean(name, other) is not None]
    if not both:
        return []
    text = [f"### {own} against {other}", "", f"| set | {own} | {other} | {other} is better by | times the size | times the processor time of training |",
            "|---|---:|---:|---:|---:|---:|"]
    differences, sizes = {}, {}
    for name in both:
        mine, theirs = 100 * table.mean(name, own), 100 * table.mean(name, other)
        differences[name] = round(theirs - mine, 1)
        sizes[name] = table.mean(name, other, "size_kb") / table.mean(name, own, "size_kb")
        times = table.mean(name, other, "train_cpu_s") / table.mean(name, own, "train_cpu_s")
        text.append(f"| {name} | {mine:.1f} | {theirs:.1f} | {theirs - mine:+.1f} | {sizes[name]:.1f} | {times:.2f} |")
    better = {name: d for name, d in differences.items() if d > 0}
    worse = {name: d for name, d in differences.items() if d < 0}
    text += ["", f"{other} is better than {own} on {len(better)} of {len(both)} sets, worse on {len(worse)}, equal on {len(both) - len(better) - len(worse)}. "
             f"Over all of them it is {statistics.fmean(differences.values()):+.1f} points, at {statistics.median(sizes.values()):.0f} times the size (median)."]
    if better:
        worst = max(better, key=better.get)
        text.append(f"Where it is better: {statistics.fmean(better.values()):.1f} points on average, {better[worst]:.1f} at most ({worst}), "
                    f"at {between([sizes[name] for name in better])} times the size.")
    if worse:
        most = min(worse, key=worse.get)
        text.append(f"Where it is worse: {-statistics.fmean(worse.values()):.1f} points on average, {-worse[most]:.1f} at most ({most}).")
    return text


def between(values):
    low, high = f"{min(values):.0f}", f"{max(values):.0f}"
    return low if low == high else f"{low} to {high}"


def versions(rows):
    seen = dict.fromkeys((row["contestant"], row["version"], row["flags"]) for row in rows)
    return [f"- {label}: {version}{f', `{flags}`' if flags else ''}" for label, version, flags in seen] + [""]
