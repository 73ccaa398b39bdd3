"""Expression languages: each a plugin that follows `contract`."""
