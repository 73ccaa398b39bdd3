"""Decide about workflows, without a store and without a clock. Decisions say which handler runs next, what follows a
failure, and where the next run begins."""
