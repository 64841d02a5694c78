"""Reports of graphs: one HTML file each, from the same numbers as the JSON, without script and without network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from graphpriv.report import names
from graphpriv.report.collection import collection_tables
from graphpriv.report.drawing import Drawing
from tabular.report.kit.charts import (
    Point,
    Spread,
    before_after,
    lines,
    lying_bars,
    scatter,
    stacked_shares,
    top_of,
    upright_bars,
)
from tabular.report.kit.figures import Figures, Path, element, foreign, join
from tabular.report.kit.page import page


def audit_report(
    document: Mapping[str, Any], *, drawing: Drawing | None = None, title: str = "Audit of a released social graph"
) -> str:
    """The report of one audit, from its JSON document."""
    drawings = [drawing] if drawing else []
    context = audit_context(Figures(document))
    return page(__package__, "audit.html", title=title, drawings=drawings, confidential=True, **context)


def sweep_report(document: Mapping[str, Any], *, title: str = "Losses and risks by k") -> str:
    """The report of a sweep over k, from its JSON document."""
    return page(__package__, "sweep.html", title=title, **sweep_context(Figures(document)))


def demo_report(
    document: Mapping[str, Any],
    *,
    graph_facts: Mapping[str, Any],
    drawings: Sequence[Drawing],
    files: Mapping[str, str],
    shares: Shares | None = None,
    collection: Mapping[str, Any] | None = None,
    title: str = "Demonstration: a social graph, protected and audited",
) -> str:
    """The report of the demonstration: the graph, its drawing and how to check the figures, then the audit."""
    context = audit_context(Figures(document)) | demo_context(graph_facts, files, shares or {}, collection)
    return page(__package__, "demo.html", title=title, drawings=[], graphs=drawings, confidential=True, **context)


#: What the last section calls the inputs and counts of graphs.
KNOWN = {
    "fingerprints": {"released": "Release, fingerprint"},
    "counts": {
        "users": "Users of the original",
        "edges": "Links of the original",
        "directed": "Links have a direction",
        "released_users": "Users of the release",
        "released_edges": "Links of the release",
        "unmapped": "Users of the release without an original",
    },
}


def audit_context(figures: Figures) -> dict[str, Any]:
    """What the template of an audit shows."""
    return {
        "document": figures,
        "names": names,
        "attackers": _attackers(figures),
        "undecided": _most_undecided(figures),
        "highest": [
            (said, figures[name], _highest_bounds(figures, name))
            for name, said in (("highest", "with profiles"), ("highest_by_links", "by links alone"))
        ],
        "losses": _losses(figures),
        "risks": _risks(figures),
        "candidates": _candidates(figures),
        "structure": _structure(figures["structure"]),
        **KNOWN,
    }


def _most_undecided(figures: Figures) -> Figures | None:
    """The largest share that was left undecided."""
    shares = [*figures["undecided"].leaves(), *figures.at("structure", "undecided").leaves()]
    return max((each for each in shares if each.number is not None), key=lambda each: each.number or 0, default=None)


def _highest_bounds(figures: Figures, name: str) -> tuple[Figures, Figures] | None:
    """Between what the highest success lies, where that is not one figure."""
    highest = figures.at(name, "expected_success")
    bounds = figures.at("bounds", "expected_success", *(str(highest[key].value) for key in ("attacker", "scenario")))
    ends = list(bounds) if bounds.is_known else []
    return (ends[0], ends[1]) if len(ends) == 2 and ends[0].value != ends[1].value else None


def _losses(figures: Figures) -> dict[str, Any]:
    losses = figures["information_loss"]
    keys = [key for key in losses["aamil"].names(*names.ATTRIBUTES) if key != "anchored"]
    # DBIL has its mean beside, not below, its values by attribute.
    columns = {
        "AAMIL": [losses["aamil"][key] for key in keys],
        "CDIL": [losses["cdil"][key] for key in keys],
        "DBIL": [losses["dbil"] if key == "mean" else losses["dbil_by_attribute"][key] for key in keys],
    }
    drawn = {name: each for name, each in columns.items() if name != "DBIL" or losses["dbil_by_attribute"].is_known}
    heads = [names.ATTRIBUTES.get(key, key) for key in keys]
    return {
        "chart": upright_bars(
            [names.shorter(head) for head in heads],
            {name: [each.number for each in column] for name, column in drawn.items()},
            label=f"Bars: {' and '.join(drawn)} by attribute; the table has all.",
        ),
        "heads": heads,
        "rows": [
            ["AAMIL (eq 6.4)", *columns["AAMIL"]],
            ["AAMIL, anchored", *(losses["aamil"]["anchored"][key] for key in keys)],
            ["CDIL (eq 6.6)", *columns["CDIL"]],
            ["DBIL (eq 6.7)", *columns["DBIL"]],
        ],
        "parts": [
            [name, " ", each]
            for name, each in (
                ("AAMIL", losses["aamil"]["mean"]), ("CDIL", losses["cdil"]["mean"]), ("DBIL", losses["dbil"])
            )
            if each.number is not None
        ],
    }  # fmt: skip


def _scenarios(figures: Figures) -> list[str]:
    risks = figures["disclosure_risk"]
    return list(dict.fromkeys(name for each in _attackers(figures) for name in risks[each].names(*names.SCENARIOS)))


def _attackers(figures: Figures) -> list[str]:
    return figures["disclosure_risk"].names(*names.ATTACKERS)


def _risks(figures: Figures) -> dict[str, Any]:
    scenarios, attackers = _scenarios(figures), _attackers(figures)
    groups = [*map(names.scenario, scenarios), names.LINKS_ALONE]
    tables, columns = [], {}
    for kind, alone, name, meaning in names.RISKS:
        rows = {
            names.attacker(each): [
                *(figures.at(kind, each, scenario) for scenario in scenarios),
                figures.at("structure", alone, each),
            ]
            for each in attackers
        }
        columns[kind] = {who: [each.number for each in row] for who, row in rows.items()}
        tables.append((f"{name}: {meaning}.", [[who, *row] for who, row in rows.items()]))
    for kind, name in names.BOUNDS.items():
        bounds = figures.at("bounds", kind)
        if bounds.is_known:
            listed = [
                [names.attacker(each), *(_between(bounds.at(each, name)) for name in (*scenarios, "structure"))]
                for each in attackers
            ]
            tables.append((f"{name}, the least and the most that it can be.", listed))
    known = any(value is not None for column in columns["expected_success"].values() for value in column)
    return {
        "heads": ["Attacker", *map(names.shorter, groups)],
        "tables": tables,
        "highest": _highest(figures),
        "found": lying_bars(
            groups,
            columns["disclosure_risk"],
            undecided=columns["undecided"],
            label="Bars: disclosure risk by what the attacker knows; the table has all.",
        ),
        "guessed": lying_bars(
            groups,
            columns["expected_success"],
            label="Bars: expected success by what the attacker knows; the table has all.",
        )
        if known
        else None,
    }


def _between(bounds: Figures) -> object:
    """The two ends of what a figure can be; one where they are the same."""
    ends = list(bounds)
    if len(ends) != 2:
        return bounds
    return join(ends[0], " to ", ends[1])


def _highest(figures: Figures) -> list[list[object]]:
    """The greatest risks: what they are of, the figure, and whose it is."""
    rows: list[list[object]] = []
    for name, said in (("highest", "with profiles"), ("highest_by_links", "by links alone")):
        for measure, shown in (("expected_success", "Expected success"), ("disclosure_risk", "Disclosure risk")):
            found = figures.at(name, measure)
            attacker, scenario = found["attacker"], found["scenario"]
            rows.append(
                [
                    f"{shown} {said}",
                    found["value"],
                    attacker.words(names.attacker(str(attacker.value))),
                    scenario.words(names.knowing(str(scenario.value))),
                ]
            )
    return rows


def _candidates(figures: Figures) -> list[dict[str, Any]]:
    """For each attacker a chart and a table of how many candidates are found."""
    found = []
    for attacker in _attackers(figures):
        every = {
            **{names.scenario(name): figures.at("candidates", attacker, name) for name in _scenarios(figures)},
            names.LINKS_ALONE: figures.at("structure", "candidates", attacker),
        }
        known = {name: counts for name, counts in every.items() if counts.is_known}
        if not known:
            continue
        there = {key for counts in known.values() for key in counts.names()}
        keys = [key for key in names.BUCKETS if key in there] + sorted(there.difference(names.BUCKETS))
        shown = {key: names.bucket(key) for key in keys}
        chart = stacked_shares(
            {name: {shown[key]: int(counts[key].number or 0) for key in keys} for name, counts in known.items()},
            label=f"Stacked bars: candidates found by the attacker {attacker}; the table has all.",
            what="candidates",
            units="users",
        )
        rows = [[name, *(counts[key] for key in keys)] for name, counts in known.items()]
        found.append(
            {"attacker": names.attacker(attacker), "chart": chart, "heads": ["Known", *shown.values()], "rows": rows}
        )
    return found


def _structure(structure: Figures) -> dict[str, Any]:
    heads = {"original": "Original", "released": "Release", "change": "Change"}
    kinds = [kind for kind in heads if structure[kind].is_known]
    measures = [key for key in structure["original"].names(*names.STRUCTURE) if key != "estimated"]
    return {
        "heads": ["Measure", *(heads[kind] for kind in kinds)],
        "rows": [
            [names.STRUCTURE.get(key) or key.replace("_", " ").capitalize(), *(structure[kind][key] for kind in kinds)]
            for key in measures
            if not isinstance(structure["original"][key].value, dict | list)
        ],
        "estimated": [
            [heads[kind].lower(), " ", structure[kind]["estimated"]]
            for kind in kinds
            if structure[kind]["estimated"].is_known
        ],
    }


#: By attribute: value, share of users before, share after.
Shares = Mapping[str, Sequence[tuple[str, float, float | None]]]

#: What the files of the demonstration hold, by what they are for.
FILES = {
    "original": "The original graph. Private.",
    "released": "The release.",
    "mapping": "Which user of the original is which user of the release. Private: custodian and auditor only.",
    "dictionary": "What the columns and values of the release mean.",
    "microdata": "The release as a table: degree, place and topics.",
    "microdata dictionary": "What the columns of the table mean.",
    "store": "The embedded store: the original, the release and the mapping. Private.",
    "audit": "The figures of this report, unrounded.",
    "report": "This report. For the custodian and the auditor.",
}

FACTS = {
    "users": "Users",
    "edges": "Follows",
    "directed": "Links have a direction",
    "degree": "Degree",
    "clustering": "Clustering",
    "path_length": "Mean path length, steps",
    "diameter": "Diameter, steps",
    "components": "Components",
    "largest_component": "Share of users in the largest component",
    "estimated": "Path length and diameter are estimates",
}

#: Groups of facts with more entries than these, such as the shares of all places, are not listed.
_FEW = 6


def demo_context(
    facts: Mapping[str, Any], files: Mapping[str, str], shares: Shares, collection: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What the template of the demonstration shows before the audit."""
    # Apart from the figures of the audit, which stand on the same page.
    beside = {name: [{"before": before, "after": after} for _, before, after in rows] for name, rows in shares.items()}
    figures = Figures({"graph": facts, "shares": beside, "collection": collection or {}})
    kinds = {"original": "json", "released": "json", "mapping": "csv"}
    return {
        "facts": _facts(figures["graph"]),
        "collected": collection_tables(figures["collection"]),
        "files": [[foreign(name), FILES.get(purpose, purpose)] for purpose, name in files.items()],
        "named": {name: files.get(name, f"{name}.{kind}") for name, kind in kinds.items()},
        "shares": [_shares(figures["shares"][name], name, rows) for name, rows in shares.items()],
    }


def _facts(graph: Figures) -> list[list[object]]:
    rows: list[list[object]] = []
    for name in graph.names(*FACTS):
        fact, shown = graph[name], FACTS.get(name) or foreign(name.replace("_", " ").capitalize())
        # Small groups, such as the mean and the largest degree, stand line by line.
        single = [key for key in fact.names() if not isinstance(fact[key].value, Mapping | list | None)]
        if len(single) <= _FEW:
            rows += [[join(shown, ", ", foreign(key.replace("_", " "))), fact[key]] for key in single]
        if fact.is_known and not isinstance(fact.value, Mapping | list):
            rows.append([shown, fact])
    return rows


def _shares(figures: Figures, name: str, rows: Sequence[tuple[str, float, float | None]]) -> dict[str, Any]:
    return {
        "caption": f"Share of users by {name}.",
        "chart": before_after(rows, label=f"Dots: share of users by {name}, before and after protection."),
        "rows": [
            [foreign(value), each["before"], each["after"]] for (value, *_), each in zip(rows, figures, strict=True)
        ],
    }


_LOSSES = {"aamil": "AAMIL", "cdil": "CDIL", "dbil": "DBIL", "mean": "Mean"}
_RUNS = "Mean and standard deviation of the runs."


#: What stands beside each other of several protections; the first two are the axes of the map.
_BESIDE: dict[str, Path] = {
    "Mean loss": ("information_loss", "mean"),
    "Identified correctly, at most": ("highest", "expected_success"),
    "DBIL": ("information_loss", "dbil"),
    "AAMIL": ("information_loss", "aamil"),
    "CDIL": ("information_loss", "cdil"),
    "Places kept": ("places", "kept"),
    "Released as world": ("places", "world"),
}


def sweep_context(figures: Figures) -> dict[str, Any]:
    """What the template of a sweep shows."""
    rows = list(figures["rows"])
    # Rows without a k have no place on the axis.
    placed = [row for row in rows if (row["k"].number or 0) > 0]
    steps = [row["k"].number or 1 for row in placed]
    paths = {shown: ("information_loss", name) for name, shown in _LOSSES.items()}
    label = "Lines: information loss by k; the table has all."
    return {
        "document": figures,
        "stopped": figures["ended"].value is False,
        "steps": steps,
        "changes": list(_changes(placed)) if placed else [],
        "losses": lines(steps, _columns(placed, paths), label=label, across="k"),
        "lost": _table(rows, f"Information loss by k. {_RUNS}", paths),
        "risks": list(_risks_by_k(rows, placed, steps)),
        "links": list(_links(rows)),
        "ways": _ways(figures),
        "names": names,
        **KNOWN,
    }


def _ways(figures: Figures) -> dict[str, Any] | None:
    """The methods that were tried, on the map of risk against loss and in a table."""
    beside = list(figures["beside"])
    if not beside:
        return None
    given = figures["parameters"]
    tried = [(given["method"], given["method_parameters"], figures["rows"])]
    tried += [(each["method"], each["method_parameters"], each["rows"]) for each in beside]
    several = len({name.value for name, _, _ in tried}) < len(tried)
    named = [
        join(name, *(join(" ", parameters[key]) for key in parameters.names())) if several else join(name)
        for name, parameters, _ in tried
    ]
    points, listed = [], list[list[Any]]()
    for place, (way, (name, _, rows)) in enumerate(zip(named, tried, strict=True)):
        for row in rows:
            figures_of = [row.at(*path) for path in _BESIDE.values()]
            listed.append([way, row["k"], *(_cell(each) for each in figures_of)])
            loss, risk = (_spread(each) for each in figures_of[:2])
            if loss is not None and risk is not None and row["k"].number is not None:
                said = f"{name.value}, k = {row['k'].value}: loss {loss.mean:.3f}, identified correctly {risk.mean:.3f}"
                points.append(Point(risk.mean, loss.mean, said, place, name=f"k {row['k'].value}"))
    return {
        "chart": scatter(
            points,
            label="Map of information loss against risk, one point for each protection and k; the table has all.",
            across="Share of users identified correctly",
            upwards="Information loss",
            names=[_shown(name, parameters if several else None) for name, parameters, _ in tried],
            ceiling=1.0,
        ),
        "table": {
            "caption": f"Protections beside each other. {_RUNS}",
            "heads": ["Protection", "k", *_BESIDE],
            "rows": listed,
            "wide": True,
        },
    }


def _shown(name: Figures, parameters: Figures | None) -> str:
    """A method in the key of a chart, with its *parameters* where they tell it from others."""
    values = [] if parameters is None else [str(parameters[key].value) for key in parameters.names()]
    return " ".join([str(name.value), *values])


def _changes(placed: Sequence[Figures]) -> Iterator[tuple[str, Figures, Figures]]:
    """What changes from the first k to the last, and its figures there."""
    first, last = placed[0], placed[-1]
    paths: dict[str, Path] = {
        "The highest share of users identified correctly": ("highest", "expected_success", "mean"),
        "The mean information loss": ("information_loss", "mean", "mean"),
    }
    for name in first["disclosure_risk"].names(*names.ATTACKERS):
        said = f"The share of users found by place, topics and {names.neighbourhood(name)}"
        paths[said] = ("disclosure_risk", name, "all", "mean")
    for name in first.at("structure", "risk").names(*names.ATTACKERS):
        said = f"The share of users found by links alone, {names.neighbourhood(name)},"
        paths[said] = ("structure", "risk", name, "mean")
    for said, path in paths.items():
        ends = first.at(*path), last.at(*path)
        if None not in (ends[0].number, ends[1].number):
            yield said, *ends


def _columns(placed: Sequence[Figures], paths: Mapping[str, Path]) -> dict[str, list[Spread | None]]:
    """What stands at each of *paths* in all rows, where it is known in any."""
    columns = {shown: [_spread(row.at(*path)) for row in placed] for shown, path in paths.items()}
    return {shown: column for shown, column in columns.items() if any(column)}


def _spread(figures: Figures) -> Spread | None:
    mean = figures["mean"].number
    return None if mean is None else Spread(mean, figures["sd"].number or 0.0)


def _risks_by_k(rows: Sequence[Figures], placed: Sequence[Figures], steps: Sequence[float]) -> Iterator[dict[str, Any]]:
    """For each kind of risk and each attacker a table, and a chart of what was decided."""
    for kind, _, name, meaning in names.RISKS:
        found = rows[0][kind] if rows else Figures(None)
        paths = {
            each: {names.scenario(known): (kind, each, known) for known in found[each].names(*names.SCENARIOS)}
            for each in found.names(*names.ATTACKERS)
        }
        columns = {each: _columns(placed, below) for each, below in paths.items() if kind != "undecided"}
        # The charts of one kind share their axis, so that the attackers can be compared.
        top = max(map(top_of, columns.values()), default=1.0)
        for each, below in paths.items():
            who, drawn = names.attacker(each), columns.get(each)
            label = f"Lines: {name.lower()} by k, {who}; the table has all."
            yield {
                "caption": f"{name} by k. Attacker: {who}.",
                "chart": lines(steps, drawn, label=label, across="k", top=top) if drawn else None,
                "table": _table(rows, f"{name} by k ({meaning}). Attacker: {who}. {_RUNS}", below),
            }


def _links(rows: Sequence[Figures]) -> Iterator[dict[str, Any]]:
    """What attackers find who know nothing of the profiles."""
    for _, kind, name, meaning in names.RISKS if rows else ():
        attackers = rows[0].at("structure", kind).names(*names.ATTACKERS)
        if attackers:
            caption = f"{name} by k, links alone ({meaning}). {_RUNS}"
            yield _table(rows, caption, {names.attacker(each): ("structure", kind, each) for each in attackers})


def _table(rows: Sequence[Figures], caption: str, columns: Mapping[str, Path]) -> dict[str, Any]:
    listed = [[row["k"], *(_cell(row.at(*path)) for path in columns.values())] for row in rows]
    return {"caption": caption, "heads": ["k", *columns], "rows": listed, "wide": True}


def _cell(figures: Figures) -> Markup:
    return join(figures["mean"], " ", element("span", "± ", figures["sd"], class_="deviation"))
