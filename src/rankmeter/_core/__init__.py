"""Everything compiled.

The compiled side promises that no input can crash the interpreter: what it reads without bounds
checks it has measured itself, and what another thread may change it checks as it reads. It raises
TypeError for a value of the wrong type and ValueError for a wrong value, naming query, document and
value; the doors for arrays, which do not hold the GIL, tell the wrapper what is wrong instead. It
keeps no state between calls but a table of constants that only grows, so any function may be called
from several threads; a ``Judgments`` or a ``Metrics`` never changes once made.

The wrapper in Python checks option names and metric names before, and is the only one that knows
of means, of missing queries and of names.

query       the record of one query that every door fills and every kernel reads
ids         what may be an id, and the one table in which ids are found again; mixing.h mixes
ranks       ranks of the judged documents from their scores, and the record, which is sealed here:
            what query.pxd promises holds whatever a door has found; counting.h has the loops
kernels     what drives the metrics: which are asked for, and one query after the other
rows        what a metric is: its row, parameters and gains
rank_based, graded, sets, pools
            the metrics, each a formula and a row; formulas.pxd has what they share
rounded     correctly rounded constants, sums and means
mappings    the door for dicts and lists; dict_keys.h and containers.pxd look into them
columns     the door for files of judgments and runs; decimal.h reads their numbers
arrays      the doors for scores with labels, rankings of integer ids, and grades
fusion      several runs become one
resampling  means of queries drawn again, and signs for tests

memory.pxd allocates, thresholds.h chooses between algorithms, and digits.h refuses a compiler that
would give other digits.
"""
