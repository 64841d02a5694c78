"""Sources of social graphs, the crawl loop, and the enrichment with topics and places."""
