"""Tables that need not fit into memory: an engine brings users together, and the core protects them block by block."""
