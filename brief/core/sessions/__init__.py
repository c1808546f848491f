"""The rules of episodes, tasks and claims."""
