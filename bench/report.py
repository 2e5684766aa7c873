"""Medians, quartiles and ratios of a run, as JSON and as Markdown tables."""

import json
import statistics

import contestants as field


def quartiles(values):
    """Lower quartile, median, upper quartile."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    return tuple(statistics.quantiles(values, n=4, method="inclusive"))


def ratio(slower, faster):
    """Quartiles of the ratios round by round: what slows a whole round down cancels."""
    return quartiles([a / b for a, b in zip(slower, faster)])


def as_json(facts, results):
    shapes = {}
    for name, result in results.items():
        rows = [{"contestant": contestant.name(), **contestant._asdict(), "iterations": result["iterations"][contestant],
                 "ms": times} for contestant, times in result["times"].items()]
        shapes[name] = {**field.SHAPES[name]._asdict(), "rows": rows, "skipped": result["skipped"]}
    return json.dumps({"machine": facts, "batch": field.BATCH, "shapes": shapes}, indent=1) + "\n"


def as_markdown(facts, results):
    versions = ", ".join(" ".join(str(part) for part in about.values()) for about in facts["versions"].values())
    lines = [
        f"{facts.get('processor', 'unknown processor')}, {facts['cores']} cores, {' '.join(facts.get('simd', []))}; "
        f"{facts['date']}; {versions}; {facts['rounds']} rounds; load {facts['load_before'][0]:.1f} before, "
        f"{facts['load_after'][0]:.1f} after.", ""]
    for name, result in results.items():
        lines += shape_section(name, result)
    return "\n".join(lines) + "\n"


def shape_section(name, result):
    shape, times = field.SHAPES[name], result["times"]
    lines = [f"## {name}: T={shape.T} d={shape.d} D={shape.D} r={shape.r}", "",
             "| contestant | median ms | quartiles | GFLOP/s |", "|---|---:|---:|---:|"]
    lines += [time_row(contestant, values, shape) for contestant, values in times.items()]
    lines += ratio_table(name, times)
    lines += ["", *product_lines(times, shape)]
    lines += [f"Skipped: {contestant}: {reason}" for contestant, reason in result["skipped"].items()]
    return [*lines, ""]


def ratio_table(name, times):
    """The promised ratios, where both contestants ran."""
    rows = []
    for promised in field.RATIOS:
        slower, faster = promised.slower, promised.faster
        if slower in times and faster in times:
            low, middle, high = ratio(times[slower], times[faster])
            target = promised.asked() if name == "har-2" else ""
            rows.append(f"| {slower.name()} | {faster.name()} | {middle:.2f} | {low:.2f}-{high:.2f} | {target} |")
    return ["", "| slower | faster | ratio | quartiles | asked |", "|---|---|---:|---:|---:|", *rows] if rows else []


def time_row(contestant, values, shape):
    low, middle, high = quartiles(values)
    flops = contestant.flops(shape)
    speed = f"{flops / middle / 1e6:.0f}" if flops else ""
    return f"| {contestant.name()} | {middle:.3f} | {low:.3f}-{high:.3f} | {speed} |"


def product_lines(times, shape):
    """The dense kernels' speed as a part of the large product's on as many threads."""
    lines = []
    for contestant, values in times.items():
        product = field.Contestant("torch", contestant.threads, "product", "matrix")
        if contestant.task == "kernel" and contestant.flops(shape) and product in times:
            scale = contestant.flops(shape) / product.flops(shape)
            _, middle, _ = ratio(times[product], values)
            lines.append(f"{contestant.name()}: {100 * scale * middle:.0f} % of the large product's speed.")
    return lines
