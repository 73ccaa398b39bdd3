"""Schedule turns and campaigns of agents.

An agent's schedule is an ordinary schedule whose action begins a turn or a campaign.

- `definition.py` reads and checks definitions of schedules.
- `companion.py` reads how their runs ended, and words their events.
- `operations.py` has the transactions.
- `api.py` implements `app.agents.schedules(agent)`.
- `occurrence.py` has the durable function that is started at each due time.
- `tools.py` has the tools with which an agent creates schedules for its user.
"""
