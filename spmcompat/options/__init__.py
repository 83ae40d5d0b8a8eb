"""The options: one table, from flags and keywords to settings, and the checks before reading.

``table`` joins the rows of ``reference_options`` and ``extension_options``; ``option`` explains
the columns. ``from_flags`` and ``from_keywords`` read options with ``reading`` and ``values``, and
return ``settings``. ``checks`` refuses settings that cannot be trained with. ``help`` and
``manual`` write what users read.
"""
