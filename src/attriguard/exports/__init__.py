"""What people download from sites about themselves: read by its columns, and matched to the items of a guard."""
