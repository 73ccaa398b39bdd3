"""Campaigns: one turn of an agent for each user of a segment."""
