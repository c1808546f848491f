"""Small tools: bounded reads, atomic writes, caches, threads, clocks and the time zone."""
