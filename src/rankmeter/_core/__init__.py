"""Everything compiled.

The compiled side promises that no input can crash the interpreter: what it reads without bounds
checks it has measured itself. It raises TypeError for a value of the wrong type and ValueError for
a wrong value, naming query, document and value. It keeps no state between calls but a table of
constants that only grows, so any function may be called from several threads; a ``Judgments`` or a
``Metrics`` never changes once made.

The wrapper in Python checks option names and metric names before, and is the only one that knows
of means, of missing queries and of names.

query     the record of one query that every door fills and every kernel reads
rounded   correctly rounded constants
ranks     ranks of the judged documents from their scores
kernels   the metrics
mappings  the door for dicts and lists
"""
