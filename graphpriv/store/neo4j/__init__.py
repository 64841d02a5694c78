"""Everything that is sent to Neo4j: a graph is users who follow each other, like topics and live in places.

    (:User)-[:FOLLOWS]->(:User)                 (:User)-[:INTERESTED_IN {rank}]->(:Topic)
    (:User)-[:POSTED]->(:Post)                  (:User)-[:LIVES_IN]->(:Place)-[:BELOW]->(:Place)
    (:Graph)-[:MADE_FROM]->(:Graph)             (:Match), (:Seed), (:Run), (:Piece), (:Record): found by key only

Every node carries the key of its graph, since the community edition has one database. A graph without a name is being
imported (its lease says until when at least) or deleted; nobody else sees it.
"""
