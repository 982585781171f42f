"""What is computed of labels: the two halves of a sweep, people and items, and what climbs."""
