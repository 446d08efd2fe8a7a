"""Where attacks and defenses meet: how well an attack does on what a guard releases."""
