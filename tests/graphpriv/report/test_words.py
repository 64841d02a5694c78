"""The verdict says in words what the figures say."""

from __future__ import annotations

import pytest
from lxml import html

from graphpriv.report import audit_report
from tests.graphpriv.report.documents import audit_document


def verdict_of(document) -> str:
    page = html.document_fromstring(audit_report(document))
    return " ".join(page.find_class("verdict")[0].text_content().replace("\u00a0", " ").split())


def test_the_verdict_names_k_and_says_that_links_are_not_protected():
    words = verdict_of(audit_document())
    assert "Every profile is shared by at least 5 users." in words
    assert "The links are left as they are and are not protected." in words


@pytest.mark.parametrize("k", [0, 1])
def test_a_unique_profile_is_called_unprotected(k):
    assert "At least one profile is unique" in verdict_of(audit_document() | {"k": k})


def test_shares_are_given_as_per_cent_and_as_people():
    document = audit_document()
    document["disclosure_risk"]["ego"]["all"] = 51 / 1638
    assert "finds a match in the release for 3.1 % of users (51 of 1,638)." in verdict_of(document)


def test_a_release_with_other_links_is_not_said_to_keep_them():
    document = audit_document()
    document["structure"]["edges_unchanged"] = False
    words = verdict_of(document)
    assert "The links were changed" in words
    assert "left as they are" not in words


def test_a_release_without_open_cases_is_called_exact():
    document = audit_document()
    document["undecided"] = {"ego": {"all": 0.0}, "subgraph": {"all": 0.0}}
    document["structure"]["undecided"] = {"ego": 0.0, "subgraph": 0.0}
    assert "Nothing was left undecided" in verdict_of(document)


def test_the_largest_undecided_share_is_told():
    document = audit_document()
    document["undecided"]["subgraph"]["topic2"] = 0.75
    assert "Up to 75.0 % of users were left undecided" in verdict_of(document)


def test_without_a_mapping_the_verdict_says_what_cannot_be_known():
    words = verdict_of(audit_document(mapping=False))
    assert "No mapping was given." in words
    assert "The mean is not known." in words
    assert "A guess" not in words


def test_a_share_is_never_rounded_to_nobody_or_to_everybody():
    document = audit_document()
    document["disclosure_risk"]["ego"]["all"] = 0.00001
    document["structure"]["risk"]["ego"] = 0.99999
    words = verdict_of(document)
    assert "under 0.1 % of users" in words
    assert "over 99.9 % of users" in words


def test_no_match_at_all_is_said_plainly_and_the_links_still_count():
    document = audit_document()
    document["disclosure_risk"]["ego"]["all"] = 0.0
    document["at_risk"] = []
    words = verdict_of(document)
    assert "finds no match in the release: 0 % of users." in words
    assert "the highest of these risks counts" in words
    assert "Nobody is listed" in audit_report(document)
