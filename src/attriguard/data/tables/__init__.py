"""Tables in and out: CSV, Parquet and frames, with the roles of their columns, their ids and their cells."""
