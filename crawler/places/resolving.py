"""From what the passages of a text stand for to one place.

Passages are read from the right: "A, B" is A in B if something called A lies in something called B (or the other way
round), and else two places. What is called alike is weighed by how large and how well known it is. The place given is
the most specific one that more than half of that weight stands for or lies in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from crawler.places.building import weight
from crawler.places.contract import UNKNOWN_PLACE, Located, common_path
from crawler.places.index import Candidates, Index
from crawler.places.mentions import Mention
from graphpriv.places import Path

#: The share of the weight that a place needs to be the answer: a name, and a code alone.
_MAJORITY, _CODE_MAJORITY = 0.4, 0.6
#: A name in a place that is not known there is left out, if it is far less known elsewhere than that place is.
_OUTWEIGHED = 0.1
#: The least share of a region's weight by which a city of the same name stands for both.
_CITY_SHARE = 0.12
_ALTERNATIVES, _LEAST = 5, 0.01
#: Below it a name is left out beside one that is above it.
_DOUBTFUL = 0.6
_SURE = 0.7
_REGION, _COUNTRY = "administrative_area_level_1", "country"
_WIDE = (_COUNTRY, "continent")
#: The least weight of a town that a word can stand for beside a country.
_TOWN = weight(30_000, 5)


@dataclass
class Group:
    """Names that are about one place: what it can be, each with its weight, and the wider ones that were named."""

    states: Candidates
    sure: float
    time: int
    wider: list[Candidates] = field(default_factory=list)
    is_code: bool = False


@dataclass(frozen=True)
class Resolver:
    """Decides by an index what is meant."""

    index: Index

    def grouped(self, mentions: Sequence[tuple[Mention, int, bool]]) -> list[Group]:
        """The groups of *mentions*, each given with its time and whether it stands beside the one after it."""
        groups: list[Group] = []
        waiting: Mention | None = None
        for mention, time, is_beside in reversed(mentions):
            if waiting is not None:
                # What needs a place beside it has one now, or is left out.
                group = Group(waiting.candidates, waiting.sure, time)
                waiting = None
                if self._joins(mention, group, time):
                    groups.append(group)
                    continue
            if groups and (self._joins(mention, groups[-1], time) or self._is_part(mention, groups[-1], is_beside)):
                continue
            sibling = self._sibling(mention, groups[-1], time) if groups else None
            if sibling is not None:
                groups.append(sibling)
            elif mention.needs_context:
                waiting = mention if mention.is_code else None
            elif is_beside or not groups or self._stands_alone(mention, groups[-1]):
                groups.append(Group(mention.candidates, mention.sure, time, is_code=mention.is_code))
        return groups

    def _is_part(self, mention: Mention, group: Group, is_beside: bool) -> bool:
        """Whether a name is that of a smaller place close to the city after it, such as a suburb: it adds nothing."""
        if is_beside:
            return False
        weights = self.index.weights
        place = max(mention.candidates, key=lambda each: each[1])[0]
        city = max(group.states, key=lambda each: each[1])[0]
        return weights[place] < weights[city] and self.index.are_near(place, city)

    def _joins(self, mention: Mention, group: Group, time: int) -> bool:
        """Narrow a group down to what lies in it, or is around it, under another name; tell whether there is any."""
        if time != group.time and time * group.time:
            return False
        joined = self._joined(self._credible(mention, group), group.states)
        if not joined:
            return False
        group.wider.append(group.states)
        group.states = joined
        group.sure = max(group.sure, 0.95)
        group.time = group.time or time
        group.is_code = False
        return True

    def _credible(self, mention: Mention, group: Group) -> Candidates:
        """What a name can stand for beside a group; one that is a word is no village of a whole country."""
        types = self.index.types
        if not mention.needs_context or mention.is_code or any(types[place] not in _WIDE for place, _ in group.states):
            return mention.candidates
        return tuple(each for each in mention.candidates if each[1] >= _TOWN)

    def _joined(self, narrow: Candidates, wide: Candidates) -> Candidates:
        found: dict[int, float] = {}
        total = sum(likely for _, likely in wide)
        goes_with = self.index.goes_with
        for place, likely in narrow:
            for other, share in wide:
                if goes_with(place, other):
                    found[place] = found.get(place, 0.0) + likely * share / total
                elif goes_with(other, place):
                    found[other] = found.get(other, 0.0) + likely * share / total
        return tuple(found.items())

    def _sibling(self, mention: Mention, group: Group, time: int) -> Group | None:
        """A second place in a wider one that was named, such as B in "B, C, A" where both lie in A."""
        for number in range(len(group.wider) - 1, -1, -1):
            joined = self._joined(mention.candidates, group.wider[number])
            if joined and self._weight(joined) >= _OUTWEIGHED * self._weight(group.states):
                return Group(joined, 0.9, time, group.wider[: number + 1])
        return None

    def _stands_alone(self, mention: Mention, group: Group) -> bool:
        """Whether a name that is not known within a group is a place of its own, and not a village or a stray word."""
        types = self.index.types
        is_narrow = all(types[place] not in (*_WIDE, _REGION) for place, _ in mention.candidates)
        if (
            is_narrow and all(types[place] == _REGION for place, _ in group.states)
        ) or mention.sure < group.sure - 0.15:
            return False
        return self._weight(mention.candidates) >= _OUTWEIGHED * self._weight(group.states)

    def _weight(self, states: Candidates) -> float:
        return max(self.index.weights[place] for place, _ in states)

    def with_flags(self, groups: list[Group], flags: Sequence[str], time: int = 0) -> list[Group]:
        """The groups, narrowed down by the countries whose flags are shown; those alone if there is no group."""
        shown = [each for each in map(self._flagged, dict.fromkeys(flags)) if each is not None]
        if not groups:
            return [Group(((place, 1.0),), 0.9, time) for place in shown]
        for group in groups:
            joined = self._joined(group.states, tuple((place, 1.0) for place in shown)) if shown else ()
            group.states = joined or group.states
        return groups

    def _flagged(self, code: str) -> int | None:
        return self.index.states.get(code, self.index.regions.get(code))

    def resolved(self, groups: list[Group], explained: float, threshold: float) -> Located:
        """The place of what is said of the latest time; the closest common one, if there are several."""
        latest = max((group.time for group in groups), default=0)
        chosen = [group for group in groups if group.time == latest][::-1]
        found = [self._decided(group, threshold) for group in chosen]
        if len(found) == 1 and not found[0].is_known:
            return found[0]
        best = max((each.score for each in found if each.is_known), default=0.0)
        found = [each for each in found if each.is_known and (each.score > _DOUBTFUL or best <= _DOUBTFUL)]
        if not found:
            return UNKNOWN_PLACE
        place = found[0] if len(found) == 1 else self._common(found)
        # Little known names are places only where there are few other words.
        is_doubtful = all(group.sure < _SURE for group in chosen)
        score = place.score * (explained if is_doubtful else 0.8 + 0.2 * explained)
        if score >= threshold:
            return place._replace(score=score)
        # What it may be is told nevertheless, with its score first.
        return Located(alternatives=((place.path, score), *place.alternatives)[:_ALTERNATIVES])

    def _decided(self, group: Group, threshold: float) -> Located:
        """The most specific place that most of a group's weight is in."""
        index = self.index
        ranked = sorted(self._merged(group), key=lambda each: (-each[1], each[0]))
        total = sum(likely for _, likely in ranked)
        best = ranked[0][0]
        for place in index.above(best):
            within = sum(likely for each, likely in ranked if each == place or index.lies_in(each, place))
            share = within / total
            if share >= (_CODE_MAJORITY if group.is_code else _MAJORITY) and share * group.sure >= threshold:
                break
        is_unclear = place != best and index.types[place] in ("continent", "world")
        others = [
            (index.path(each), likely / total)
            for each, likely in ranked[: _ALTERNATIVES + 1]
            if is_unclear or each != place
        ]
        alternatives = tuple((path, share) for path, share in others if share >= _LEAST)[:_ALTERNATIVES]
        if is_unclear:
            return Located(alternatives=alternatives)
        return Located(index.path(place), within / total * group.sure, index.countries[place] or None, alternatives)

    def _merged(self, group: Group) -> Candidates:
        """What a group can be, where a name that a city shares with its region or its country counts once."""
        if len(group.states) == 1:
            return group.states
        types, left = self.index.types, dict(group.states)
        for wide in [place for place in left if types[place] in (_REGION, _COUNTRY)]:
            inside = [place for place in left if place != wide and self.index.lies_in(place, wide)]
            if not inside:
                continue
            best = max(inside, key=lambda place: left[place])
            is_city = (
                types[wide] == _REGION and left[best] >= _CITY_SHARE * left[wide] and not self._is_state(group, wide)
            )
            if is_city:
                left[best] += left.pop(wide)
            else:
                left[wide] += sum(left.pop(place) for place in inside)
        return tuple(left.items())

    def _is_state(self, group: Group, region: int) -> bool:
        """Whether a name with the United States beside it is rather that of the state: "New York, USA"."""
        above = self.index.parents[region]
        return self.index.countries[region] == "US" and any(len(w) == 1 and w[0][0] == above for w in group.wider)

    def _common(self, found: Sequence[Located]) -> Located:
        """The closest common place of several, with each as an alternative."""
        paths = list(dict.fromkeys(each.path for each in found))
        scores = {each.path: each.score for each in reversed(found)}
        path: Path = common_path(paths)
        countries = {each.country for each in found}
        alternatives = tuple((each, scores[each]) for each in paths if each != path)[:_ALTERNATIVES]
        country = countries.pop() if len(countries) == 1 else None
        return Located(path, min(each.score for each in found), country, alternatives)


def timed(mentions: Iterator[tuple[list[Mention], int, bool]]) -> list[tuple[Mention, int, bool]]:
    """The mentions of all passages in their order, with time and whether they stand beside the next passage."""
    found = []
    for several, time, is_beside in mentions:
        last = len(several) - 1
        found += [(mention, time, is_beside and at == last) for at, mention in enumerate(several)]
    return found
