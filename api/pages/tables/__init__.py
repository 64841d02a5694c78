"""The pages of tables: bringing one, what its columns are, its rows and counts, and its hierarchies."""
