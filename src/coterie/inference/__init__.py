"""Running the models: chains that can be trusted, interrupted and resumed; climbs; shards."""
