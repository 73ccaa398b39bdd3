"""Decisions about workflows: which handler runs next, what follows a failure, and where the next run begins. Pure: they
use no store and no clock."""
