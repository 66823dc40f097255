"""The arguments of training and serving software, checked against the projects themselves."""
