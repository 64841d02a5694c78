"""Who holds all releases: plain code that knows nothing of how they were made.

A release is a dictionary: for each person whose row stands in it the labels of the row, as they are written. That it
says which person a row is of is what this observer is granted: more than anyone can know.
"""

from __future__ import annotations

from itertools import combinations

from tabular.attributes import text_of

#: A row that stands in a release and says nothing in its quasi-identifiers.
STAR = ("a row of stars",)
NOTHING = (None, STAR)


def published(table, hierarchies, node, out, key="id", silent=True):
    """The release of *table* at a *node* without the rows that are *out*, written as a release is; or with stars."""
    masked = table
    for hierarchy, level in zip(hierarchies.values(), node, strict=True):
        masked = hierarchy.over(table.attribute(hierarchy.name).domain).generalised(masked, level)
    rows = zip(*([text_of(value) for value in masked.values(name)] for name in hierarchies), strict=True)
    said = zip(table.values(key), rows, out.tolist(), strict=True)
    return {person: STAR if gone else row for person, row, gone in said if not (gone and silent)}


def faults(releases, k):
    """What the releases give away together, as a list of sentences; empty if they keep the decision for *k*."""
    return [
        *too_few_alike(releases, k),
        *too_few_consistent(releases, k),
        *(fault for pair in combinations(releases, 2) for fault in too_few_came_or_left(*pair, k)),
    ]


def too_few_alike(releases, k):
    """Each release alone has k."""
    for number, release in enumerate(releases):
        rows = list(release.values())
        for row in {*rows} - {STAR}:
            if rows.count(row) < k:
                yield f"release {number} has {rows.count(row)} rows {row}"


def too_few_consistent(releases, k):
    """For every row the persons that agree with all that was published of it."""
    everyone = {person for release in releases for person in release}
    for target in everyone:
        if all(release.get(target) in NOTHING for release in releases):
            continue
        consistent = [
            person
            for person in everyone
            if all(target not in release or release.get(person) == release[target] for release in releases)
        ]
        if len(consistent) < k:
            yield f"only {len(consistent)} persons are consistent with one of them"


def too_few_came_or_left(earlier, later, k):
    """Rows added to or removed from a class, or moved from one to another, are none or at least k."""
    everyone = earlier.keys() | later.keys()
    for before in {None, *earlier.values()}:
        for after in {None, *later.values()}:
            moved = [one for one in everyone if (earlier.get(one), later.get(one)) == (before, after)]
            if not (before in NOTHING and after in NOTHING) and 0 < len(moved) < k:
                yield f"only {len(moved)} rows went from {before} to {after}"
    for row in {*earlier.values()} - {STAR}:
        left = [one for one in everyone if earlier.get(one) == row and one not in later]
        if 0 < len(left) < k:
            yield f"only {len(left)} rows were removed from {row}"
    for row in {*later.values()} - {STAR}:
        came = [one for one in everyone if later.get(one) == row and one not in earlier]
        if 0 < len(came) < k:
            yield f"only {len(came)} rows were added to {row}"


def told_apart(releases, k):
    """How many persons can be found by one who knows, too, in which releases each is not."""
    trails = {}
    for person in {person for release in releases for person in release}:
        trail = tuple(release.get(person) for release in releases)
        trails.setdefault(trail, []).append(person)
    return sum(
        len(persons)
        for trail, persons in trails.items()
        if len(persons) < k and not all(each in NOTHING for each in trail)
    )
