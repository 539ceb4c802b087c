"""Everything compiled.

The compiled side promises that no input can crash the interpreter: what it reads without bounds
checks it has measured itself, and what another thread may change it checks as it reads. It raises
TypeError for a value of the wrong type and ValueError for a wrong value, naming query, document and
value; the doors for arrays, which do not hold the GIL, tell the wrapper what is wrong instead. It
keeps no state between calls but a table of constants that only grows, so any function may be called
from several threads; what holds judgments or metrics never changes once made.

The wrapper in Python checks option names and metric names before, and is the only one that knows
of means, of missing queries and of names.

query       the record of one query that every door fills and every kernel reads
ids         what may be an id, and the one table in which ids are found again; mixing.h mixes
scratch     all memory that ranking one query takes
ranks       ranks of the judged documents from their scores, and the record, which is sealed here:
            what query.pxd promises holds whatever a door has found; counting.h has the loops
driver      what drives the metrics: which are asked for, and one query after the other
grades      the order of grades
rounded     correctly rounded constants, sums and means

doors       from what callers hold to the record
  mappings    judgments that are dicts, and single rankings; rankings.pyx finds documents in lists
              and dicts; containers.pxd, dict_keys.h and dict_values.h look into these
  columns     judgments and runs as rows of files and tables; text_rows.pyx reads these, decimal.h
              their numbers
  arrays      scores with labels, rankings of integer ids, and grades; array_rows.pyx reads these,
              groups.pyx brings rows of equal queries together
metrics     what a metric computes
  rows        what a metric is: its row, parameters and gains
  rank_based, graded, sets, pools
              the metrics, each a formula and a row; formulas.pxd has what they share
experiments what several runs or evaluations need together
  fusion      several runs become one; union.pyx has one query of them, scales.pyx their scores
  resampling  means of queries drawn again, and signs for tests

memory.pxd allocates, thresholds.h chooses between algorithms, and digits.h refuses a compiler that
would give other digits.
"""
