"""Which neighbourhoods lie in which: filters, inference, and a search for what these leave open."""
