"""Schedules for agents: ordinary schedules whose action begins a turn of an agent, or a campaign.

`definition.py` reads what users write, `operations.py` are the transactions, `api.py` is `app.agents.schedules(agent)`,
`occurrence.py` is the durable function that a due time starts, and `tools.py` lets agents schedule for their user.
"""
