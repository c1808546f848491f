"""The wakes of one server: the schedule, the interval jobs that drive it, and the faults of their runs."""
