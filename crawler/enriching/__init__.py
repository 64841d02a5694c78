"""From what users wrote to what they are interested in, and where they live.

`enrichment` goes through the users of a stored graph, `links` brings the pages that their posts link to, `topics` makes
three topics of a user's posts and pages, `places` one place of a free text, and `figures` counts what came of it.
"""
