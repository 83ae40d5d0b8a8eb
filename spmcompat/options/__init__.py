"""The training options: their table, their conversion to settings, and the checks.

``table`` joins the rows of ``reference_options`` and ``extension_options``; ``option`` explains
the columns. ``from_flags``, ``from_keywords`` and ``from_counts`` read options with ``reading`` and
``values``, and return ``settings``. ``conflicts`` refuses settings that contradict each other, and
``checks`` those that training does not accept for another reason; ``job`` turns the others into a
job, whose plan ``planning`` makes. No other package reads settings. ``help`` writes texts for
users.
"""
