"""The options of the planners: what can be asked, how its text is read, and what is said of it, once for all doors."""
