"""The figures, tables and charts of an audit report."""

from __future__ import annotations

from typing import Any

from graphpriv.report import names
from tabular.report.kit.bars import lying_bars, stacked_shares, upright_bars
from tabular.report.kit.figures import Figures

#: What the last section calls the inputs and counts of graphs.
KNOWN = {
    "fingerprints": {
        "original": "Original, fingerprint",
        "released": "Release, fingerprint",
        "mapping": "Mapping, fingerprint",
    },
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
    known = any(value is not None for column in columns["expected_success"].values() for value in column)
    return {
        "heads": ["Attacker", *map(names.shorter, groups)],
        "tables": tables,
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
