"""Drawings taken apart again."""

from __future__ import annotations

import re

from lxml import etree

SVG = "{http://www.w3.org/2000/svg}"


def parsed(drawing):
    return etree.fromstring(drawing.encode())


def tooltips(drawing) -> list[str]:
    return [re.sub("[\u2068\u2069]", "", each.text) for each in parsed(drawing).iter(f"{SVG}title")]


def words(drawing) -> list[str]:
    return [each.text for each in parsed(drawing).iter(f"{SVG}text")]
