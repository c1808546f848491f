"""Rules of episodes, tasks and claims."""
