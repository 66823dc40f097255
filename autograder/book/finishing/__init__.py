"""What a site that Sphinx has written still needs."""
