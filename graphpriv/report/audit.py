"""The sections of an audit report."""

from __future__ import annotations

from collections.abc import Sequence

from graphpriv.report import words
from graphpriv.report.definitions import definitions
from tabular.report.kit import charts
from tabular.report.kit.figures import Figures, Step
from tabular.report.kit.inputs import inputs
from tabular.report.kit.markup import Markup, element, foreign, join
from tabular.report.kit.page import Section, figure, paragraphs, side_by_side, table

_LOSSES = ("aamil", "cdil")


def audit_sections(figures: Figures, drawn: Markup | None = None) -> list[Section]:
    """All sections, in the order a data-protection officer asks: verdict, losses, risks, persons, definitions."""
    sections = [
        Section("verdict", "Verdict", words.verdict(figures)),
        *([Section("drawing", "The graph", drawn)] if drawn else []),
        Section("loss", "What was lost", _losses(figures)),
        Section("risk", "Who can be found", _risks(figures)),
        Section("candidates", "Among how many", _candidates(figures)),
        Section("structure", "The links", _structure(figures)),
        Section("persons", "Users most at risk", _persons(figures), confidential=True),
        Section("definitions", "What the measures mean", join(_source(), definitions())),
    ]
    return [*sections, Section("inputs", "Inputs, version and parameters", inputs(figures))]


def lead(figures: Figures) -> Markup:
    """What the report is about, in one line."""
    return element(
        "p",
        "Original: ", figures.inline("users"), " users, ", figures.inline("edges"), " ", _links(figures), ". Release: ",
        figures.inline("released_users"), " users, ", figures.inline("released_edges"), " ", _links(figures),
        ". Measured with graphpriv ", figures.inline("version"), ".",
        class_="lead",
    )  # fmt: skip


def _links(figures: Figures) -> str:
    return "follows" if figures.get("directed") else "links"


def _source() -> Markup:
    return paragraphs(
        "Equations, sections, algorithms and figures: G. Mares Soler, Categorical data protection, doctoral thesis, "
        "2013, chapter 6."
    )


def _losses(figures: Figures) -> Markup:
    measures = {name.upper(): ("information_loss", name) for name in _LOSSES}
    distances: dict[str, tuple[Step, ...]] = {**measures, "DBIL": ("information_loss", "dbil_by_attribute")}
    keys = [
        key
        for key in figures.keys("information_loss", "aamil", known=tuple(words.ATTRIBUTES))
        if key != "anchored"
    ]  # fmt: skip
    series = {
        name: [figures.number(*_loss(path, key)) for key in keys]
        for name, path in distances.items()
        if figures.get(*path) is not None or name != "DBIL"
    }
    shown = [words.ATTRIBUTES.get(key, key) for key in keys]
    chart = charts.grouped_bars(
        [_short(name) for name in shown], series, label=f"Bars: {' and '.join(series)} by attribute; the table has all."
    )
    rows = [
        ["AAMIL (eq 6.4)", *(figures.cell("information_loss", "aamil", key) for key in keys)],
        ["AAMIL, anchored", *(figures.cell("information_loss", "aamil", "anchored", key) for key in keys)],
        ["CDIL (eq 6.6)", *(figures.cell("information_loss", "cdil", key) for key in keys)],
        ["DBIL (eq 6.7)", *(figures.cell(*_loss(("information_loss", "dbil_by_attribute"), key)) for key in keys)],
    ]
    return join(
        paragraphs(
            "0: the release says the same as the original. 1: nothing of it is left. AAMIL looks at who is linked with "
            "whom, CDIL at how often each value occurs, DBIL at each profile."
        ),
        figure(chart, "Information loss by attribute. Lower is better."),
        table("Information loss by attribute.", ["Measure", *shown], rows, wide=True),
        element("p", "Mean information loss (eq 6.8): ", figures.inline("information_loss", "mean"), "."),
    )


def _loss(path: tuple[Step, ...], key: str) -> tuple[Step, ...]:
    """DBIL has its mean beside, not below, its values by attribute."""
    return ("information_loss", "dbil") if path[-1] == "dbil_by_attribute" and key == "mean" else (*path, key)


def _short(name: str) -> str:
    return name.replace("First topic", "Topic 1").replace("Second topic", "Topic 2").replace("Third topic", "Topic 3")


def _scenarios(figures: Figures) -> list[str]:
    found: dict[str, None] = {}
    for attacker in figures.keys("disclosure_risk"):
        found |= dict.fromkeys(figures.keys("disclosure_risk", attacker, known=tuple(words.SCENARIOS)))
    return list(found)


def _attackers(figures: Figures) -> list[str]:
    return figures.keys("disclosure_risk", known=tuple(words.ATTACKERS))


def _risks(figures: Figures) -> Markup:
    scenarios, attackers = _scenarios(figures), _attackers(figures)
    groups = [*(words.scenario(name) for name in scenarios), words.LINKS_ALONE]

    def column(what: str, alone: str, attacker: str) -> list[float | None]:
        labelled = [figures.number(what, attacker, name) for name in scenarios]
        return [*labelled, figures.number("structure", alone, attacker)]

    named = {name: words.attacker(name) for name in attackers}
    risk = charts.horizontal_bars(
        groups,
        {named[name]: column("disclosure_risk", "risk", name) for name in attackers},
        undecided={named[name]: column("undecided", "undecided", name) for name in attackers},
        label="Bars: disclosure risk by what the attacker knows; the table has all.",
    )
    guesses = {named[name]: column("expected_success", "expected_success", name) for name in attackers}
    label = "Bars: expected success by what the attacker knows; the table has all."
    known = any(value is not None for values in guesses.values() for value in values)
    success = charts.horizontal_bars(groups, guesses, label=label) if known else None
    heads = ["", *(_short(words.scenario(name)) for name in scenarios), words.LINKS_ALONE]
    tables = [
        table(
            caption,
            ["Attacker", *heads[1:]],
            [
                [
                    words.attacker(name),
                    *(figures.cell(what, name, each) for each in scenarios),
                    figures.cell("structure", alone, name),
                ]
                for name in attackers
            ],
            wide=True,
        )
        for caption, what, alone in (
            ("Disclosure risk (eq 6.9): share of users for whom a match is found.", "disclosure_risk", "risk"),
            ("Expected success: how often a guess among the matches is right.", "expected_success", "expected_success"),
            ("Undecided: share of users whose search ended at the budget.", "undecided", "undecided"),
        )
    ]
    return join(
        paragraphs(
            "The attacker knows the links around a person and, for that person and all neighbours, the attributes of "
            "the scenario. Found means that at least one user of the release matches; a right guess also needs the "
            "true person to be among the matches and few others beside."
        ),
        side_by_side(
            figure(risk, "Disclosure risk by what is known. A dashed end is what was left undecided."),
            figure(success, "Expected success of a guess, by what is known.") if success else None,
        ),
        tables,
    )


def _candidates(figures: Figures) -> Markup:
    scenarios, attackers = _scenarios(figures), _attackers(figures)
    drawn, tables = [], []
    for attacker in attackers:
        paths: list[tuple[str, tuple[Step, ...]]] = [
            *((words.scenario(name), ("candidates", attacker, name)) for name in scenarios),
            (words.LINKS_ALONE, ("structure", "candidates", attacker)),
        ]
        paths = [(name, path) for name, path in paths if figures.get(*path) is not None]
        if not paths:
            continue
        buckets = _buckets(figures, [path for _, path in paths])
        rows = {name: {_bucket(key): int(figures.number(*path, key) or 0) for key in buckets} for name, path in paths}
        chart = charts.stacked_shares(
            rows, label=f"Stacked bars: candidates found by the attacker {attacker}; the table has all."
        )
        caption = f"Users by how many candidates are found. Attacker: {words.attacker(attacker)}."
        drawn.append(figure(chart, caption))
        tables.append(
            table(
                caption,
                ["Known", *(_bucket(key) for key in buckets)],
                [[name, *(figures.cell(*path, key) for key in buckets)] for name, path in paths],
                wide=True,
            )
        )
    if not drawn:
        return paragraphs("How many candidates were found is not known.")
    return join(
        paragraphs(
            "The fewer users of the release match a person, the nearer an attacker is. One candidate singles a person "
            "out; no candidate means that the release no longer shows this neighbourhood."
        ),
        side_by_side(*drawn),
        side_by_side(*tables),
    )


def _buckets(figures: Figures, paths: Sequence[tuple[Step, ...]]) -> list[str]:
    """The worst first, no match last."""
    found = {key for path in paths for key in figures.keys(*path)}
    known = [key for key in (*words.BUCKETS[1:], words.BUCKETS[0]) if key in found]
    return known + sorted(found - set(known))


def _bucket(key: str) -> str:
    return {"0": "none", "more": "over 20"}.get(key, key.replace("-", "\u2013"))


def _structure(figures: Figures) -> Markup:
    note = figures.get("structure", "note")
    kinds = [kind for kind in ("original", "released", "change") if figures.get("structure", kind) is not None]
    names = [key for key in figures.keys("structure", "original", known=tuple(words.STRUCTURE)) if key != "estimated"]
    heads = {"original": "Original", "released": "Release", "change": "Change"}
    rows = [
        [words.STRUCTURE.get(name, foreign(name)), *(figures.cell("structure", kind, name) for kind in kinds)]
        for name in names
        if not isinstance(figures.get("structure", "original", name), dict | list)
    ]
    estimates = [
        [", " if position else None, heads[kind].lower(), " ", figures.inline("structure", kind, "estimated")]
        for position, kind in enumerate(kinds)
        if figures.get("structure", kind, "estimated") is not None
    ]
    told = [" Path length and diameter estimated: ", estimates, "."] if estimates else None
    return element(
        "div",
        element("p", figures.inline("structure", "note", words=str(note)), class_="note prose") if note else None,
        element("p", "Links unchanged: ", figures.inline("structure", "edges_unchanged"), ".", told),
        table("Structure of the graph.", ["Measure", *(heads[kind] for kind in kinds)], rows),
        class_="keep",
    )


def _persons(figures: Figures) -> Markup:
    listed = figures.get("at_risk")
    if listed is None:
        return paragraphs("Who is most at risk is not known: it needs the mapping.")
    if not listed:
        return paragraphs("Nobody is listed.")
    rows = [
        [
            figures.inline("at_risk", place, "user"),
            figures.cell("at_risk", place, "expected_success"),
            figures.cell("at_risk", place, "candidates"),
            element(
                "td", figures.inline("at_risk", place, "attacker", words=words.attacker(each.get("attacker") or ""))
            ),
            element(
                "td", figures.inline("at_risk", place, "scenario", words=words.knowing(each.get("scenario") or ""))
            ),
        ]
        for place, each in enumerate(listed)
    ]
    heads = ["User of the original", "Expected success", "Candidates", "Found by", "Knowing"]
    return join(
        paragraphs(
            "The ids are those of the original graph. This section is for the custodian and the auditor only: take it "
            "out before the report is passed on."
        ),
        table("Users most likely to be named rightly, and how.", heads, rows, wide=True),
    )
