"""What a release does to a table, and the released table itself."""
