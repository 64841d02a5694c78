"""What things are called in reports, and the verdict in plain words."""

from __future__ import annotations

from tabular.report.kit.figures import Figures, percent
from tabular.report.kit.markup import Markup, element, join

SCENARIOS = {
    "location": "Place",
    "topic1": "First topic",
    "topic2": "Second topic",
    "topic3": "Third topic",
    "topics": "All three topics",
    "all": "Place and topics",
}
ATTRIBUTES = {**{name: SCENARIOS[name] for name in ("location", "topic1", "topic2", "topic3")}, "mean": "Mean"}
ATTACKERS = {"ego": "Whole neighbourhood", "subgraph": "Part of it"}
LINKS_ALONE = "Links alone"
BUCKETS = ("0", "1", "2-4", "5-10", "11-20", "more")
STRUCTURE = {
    "degree": "Mean degree",
    "clustering": "Clustering",
    "path_length": "Mean path length",
    "diameter": "Diameter",
}


def scenario(name: str) -> str:
    """The name of a scenario; attributes joined by `+` are named one by one."""
    return SCENARIOS.get(name) or " + ".join(SCENARIOS.get(each, each) for each in name.split("+"))


def knowing(name: str) -> str:
    """What a scenario gives an attacker to know beside the links."""
    return LINKS_ALONE if name == "structure" else scenario(name)


def attacker(name: str) -> str:
    """The name of an attacker, with what it is called elsewhere."""
    return f"{ATTACKERS[name]} ({name})" if name in ATTACKERS else name


def known(name: str) -> str:
    """What an attacker knows of the links."""
    return {"ego": "the whole neighbourhood", "subgraph": "part of the neighbourhood"}.get(name, name)


def headline(figures: Figures) -> str:
    """The verdict in one or two sentences."""
    k = figures.number("k")
    if k is None:
        profiles = "How many users share each profile is not known."
    elif k < 2:
        profiles = "At least one profile is unique: the profiles are not protected."
    else:
        profiles = f"Every profile is shared by at least {k:,} users."
    unchanged = figures.get("structure", "edges_unchanged")
    if unchanged is True:
        return f"{profiles} The links are left as they are and are not protected."
    if unchanged is False:
        return f"{profiles} The links were changed; how far they still give users away stands below."
    return profiles


def verdict(figures: Figures) -> Markup:
    """The figures that matter most, and what they mean."""
    attackers = figures.keys("disclosure_risk", known=tuple(ATTACKERS))
    tiles = [
        ("Users who share each profile, at least (k)", figures.inline("k")),
        ("Mean information loss, from 0 to 1", figures.inline("information_loss", "mean")),
        *(
            (f"Found by place, topics and {known(name)}", _share(figures, name))
            for name in attackers
        ),
        *((f"Found by links alone, {known(name)}", figures.share("structure", "risk", name))
          for name in figures.keys("structure", "risk", known=tuple(ATTACKERS))[:1]),
    ]  # fmt: skip
    sentences = [
        _profiles(figures),
        _loss(figures),
        *(_found(figures, name) for name in attackers),
        _links(figures),
        _undecided(figures),
        _without_mapping(figures),
    ]
    return element(
        "div",
        element("p", headline(figures), class_="headline"),
        element("dl", [element("div", element("dt", name), element("dd", value)) for name, value in tiles],
                class_="tiles"),
        element("ul", [element("li", each) for each in sentences if each]),
        class_="verdict",
    )  # fmt: skip


def _share(figures: Figures, attacker_name: str) -> Markup:
    return figures.share("disclosure_risk", attacker_name, "all")


def _profiles(figures: Figures) -> Markup | None:
    k = figures.number("k")
    if k is None:
        return None
    if k < 2:
        return join("Whoever knows the place and the topics of some users can single them out, even without any link.")
    return join(
        "Whoever knows the place and the three topics of a person, and nothing of the links, has at least ",
        figures.inline("k"), " users of the release to choose from.",
    )  # fmt: skip


def _loss(figures: Figures) -> Markup | None:
    mean = figures.number("information_loss", "mean")
    names = [("aamil", "mean"), ("cdil", "mean"), ("dbil",)]
    known = [path for path in names if figures.number("information_loss", *path) is not None]
    if not known:
        return None
    each = [
        [", " if position else None, path[0].upper(), " ", figures.inline("information_loss", *path)]
        for position, path in enumerate(known)
    ]
    if mean is None:
        return join("Information loss, where 0 keeps everything and 1 nothing: ", each, ". The mean is not known.")
    return join(
        "On average ", figures.share("information_loss", "mean"), " of the information in the profiles is lost (", each,
        "; 0 keeps everything, 1 nothing).",
    )  # fmt: skip


def _found(figures: Figures, name: str) -> Markup | None:
    risk = figures.number("disclosure_risk", name, "all")
    if risk is None:
        return None
    knows = {
        "ego": "Whoever knows the place and topics of a person and of everyone linked with that person, and all the "
        "links among them,",
        "subgraph": "Whoever knows only a part of a person's neighbourhood, with places and topics,",
    }.get(name, f"The attacker {name}, who knows places and topics,")
    if not risk:
        return join(knows, " finds no match in the release: ", _share(figures, name), " of users.")
    users = figures.number("users")
    count = f" ({round(risk * users):,} of {users:,})" if users else ""
    success = figures.number("expected_success", name, "all")
    right = (
        join(" A guess among what was found is right for ", figures.share("expected_success", name, "all"),
             " of all users on average.")
        if success is not None
        else None
    )  # fmt: skip
    return join(knows, " finds a match in the release for ", _share(figures, name), f" of users{count}.", right)


def _links(figures: Figures) -> Markup | None:
    names = figures.keys("structure", "risk", known=tuple(ATTACKERS))
    shares = [name for name in names if figures.number("structure", "risk", name) is not None]
    if not shares:
        return None
    name = shares[0]
    success = figures.number("structure", "expected_success", name)
    means = (
        None
        if success is None
        else join(" Among the users who look alike, a guess is right for ",
                  figures.share("structure", "expected_success", name), " on average: so many can be told by their "
                  "links alone.")
    )  # fmt: skip
    return join(
        "Whoever knows the links around a person and nothing of the profiles finds a match for ",
        figures.share("structure", "risk", name), " of users.", means,
        " A high k does not lower this, and an attacker who knows the profiles too can ignore them: the highest of "
        "these risks counts.",
    )  # fmt: skip


def _undecided(figures: Figures) -> Markup | None:
    open_shares = [
        (share, path)
        for path in _undecided_paths(figures)
        if (share := figures.number(*path)) is not None
    ]  # fmt: skip
    if not open_shares:
        return None
    worst, path = max(open_shares, key=lambda each: each[0])
    if not worst:
        return join("Nothing was left undecided: the risks are exact.")
    return join(
        "Up to ", figures.inline(*path, words=percent(worst)), " of users were left undecided by the budget of steps; "
        "a risk may be higher by as much as is undecided beside it.",
    )  # fmt: skip


def _undecided_paths(figures: Figures) -> list[tuple[str, ...]]:
    labelled = [
        ("undecided", name, scenario_name)
        for name in figures.keys("undecided", known=tuple(ATTACKERS))
        for scenario_name in figures.keys("undecided", name, known=tuple(SCENARIOS))
    ]
    alone = [("structure", "undecided", name) for name in figures.keys("structure", "undecided")]
    return [*labelled, *alone]


def _without_mapping(figures: Figures) -> Markup | None:
    if figures.get("unmapped") is not None:
        return None
    return join(
        "No mapping was given. What follows persons from the original to the release (DBIL, the mean loss, how often a "
        "guess is right, who is most at risk) cannot be known."
    )
