"""The wakes of one server: the schedule, the jobs that call it at the time, and what went wrong with their runs."""
