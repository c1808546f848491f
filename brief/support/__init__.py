"""Small tools: bounded reads, atomic writes, caches, threads, the zone."""
