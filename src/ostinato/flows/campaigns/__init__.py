"""Send campaigns, in which an agent begins one turn with each user of a segment.

The API is `app.agents.campaigns(agent)` (`api.py`). A campaign is a run of the durable function `agent-campaign`
(`run.py`). The run freezes the audience (`audience.py`), begins turns (`sends.py`) and collects their outcomes
(`outcomes.py`). `skips.py` says who is not messaged, and why. `changes.py` begins, pauses, stops and ends campaigns.
`definition.py`, `options.py` and `agent_settings.py` read what users write.

All of a campaign's state is in its row and in the rows of its recipients. So every transaction can be repeated after a
crash. A transaction locks the campaign first, then users in the order of their ids, and then runs.
"""
