"""The rows of the metrics, and the parameters that they may take.

A row says everything about a metric: its kernels, its parameters and what is said of it. The
parser, the command line, the documentation and the tests take what they need from it.
"""

from numbers import Integral

from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int64_t
from libc.string cimport memset

from rankmeter._core.ids cimport is_number
from rankmeter._core.query cimport (
    EXPONENTIAL, GAINS, LINEAR, MAPPED, PY_SSIZE_T_MAX, Kernel, Params, Reads,
)

SMALLEST_POSITIVE = 5e-324


cdef class Parameter:
    """What a metric may be told beside its cut-off.

    Attributes
    ----------
    name : str
    default : object
        None where it must be given.
    words : tuple of str
        What it may be, unless it is a number.
    low, high : float
        The bounds of a number; both must be finite.
    includes : str
        Which of the bounds it may reach: "", "low", "high" or "both".
    meaning : str
    """

    def __init__(
        self, str name, object default, str meaning, *, tuple words=(),
        double low=-INFINITY, double high=INFINITY, str includes="", str why="",
    ):
        self.name = name
        self.default = default
        self.meaning = meaning
        self.words = words
        self.low = low
        self.high = high
        self.includes = includes
        self.why = why

    def __repr__(self):
        return f"<Parameter {self.name}>"

    def checked(self, value):
        """Return the value in the form in which it is kept, or raise TypeError or ValueError."""
        cdef double number
        if self.name == "judged_only":
            if value is not True and value is not False:
                raise TypeError(f"judged_only must be True or False, not {value!r}")
            return value
        if self.words:
            if value not in self.words:
                raise ValueError(
                    f"{self.name} must be {' or '.join(map(repr, self.words))}, not {value!r}"
                )
            return value
        if self.name == "gain":
            if not isinstance(value, str):
                return tuple(sorted((grade, gain) for grade, gain in read_gains(value)))
            if value not in ("exponential", "linear"):
                raise ValueError(
                    "gain must be 'exponential', 'linear' or a mapping grade -> gain, not "
                    f"{value!r}"
                )
            return value
        if not is_number(value) or not hasattr(value, "__float__"):
            raise TypeError(f"{self.name} must be a number, not {value!r}")
        number = finite_or_infinite(value)
        if not (
            isfinite(number)
            and (number > self.low or (number == self.low and self.includes in ("low", "both")))
            and (number < self.high or (number == self.high and self.includes in ("high", "both")))
        ):
            raise ValueError(f"{self.name} must be {self.wanted()}, not {value!r}{self.why}")
        return number

    cdef str wanted(self):
        if self.low == -INFINITY:
            return "a finite number"
        if self.high == INFINITY:
            return f"a finite number {'of at least' if self.includes else 'above'} {self.low:g}"
        if self.includes == "both":
            return f"a number from {self.low:g} to {self.high:g}"
        last = "up to" if self.includes else "below"
        return f"a number above {self.low:g} and {last} {self.high:g}"


cdef double finite_or_infinite(object number) except? -1:
    """The number as a double; an integer beyond all doubles as infinity."""
    try:
        return float(number)
    except OverflowError:
        return INFINITY if number > 0 else -INFINITY


cdef list read_gains(object gain):
    """The (grade, gain) pairs of a mapping with a positive grade, highest gain first."""
    if not hasattr(gain, "items"):
        raise TypeError(f"gain must be a str or a mapping grade -> gain, not {gain!r}")
    pairs = []
    for grade, value in gain.items():
        for number in (grade, value):
            if not is_number(number) or not hasattr(number, "__float__"):
                raise TypeError(f"gain maps numbers to numbers, not {grade!r} to {value!r}")
        if not (isfinite(finite_or_infinite(grade)) and isfinite(finite_or_infinite(value))
                and value >= 0):
            raise ValueError(f"gains must be finite and not negative: {grade!r} -> {value!r}")
        if grade > 0:
            pairs.append((float(grade), float(value)))
        elif value != 0:
            raise ValueError(
                f"grade {grade!r} must have gain 0, not {value!r}: unjudged documents have grade 0"
            )
    if len({grade for grade, _ in pairs}) < len(pairs):
        raise ValueError(f"gain has two entries for one grade: {gain!r}")
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


PARAMETERS = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "rel", 1.0, "grades from here on are relevant", low=0.0,
            why=": unjudged documents have grade 0",
        ),
        Parameter("gain", "exponential", "what a grade is worth: exponential, 2^grade - 1; linear, "
                  "the grade; or a mapping from grade to gain"),
        Parameter("discount", "log2", "what a rank takes off: log2, 1 / log2(rank + 1); or "
                  "jarvelin, 1 / max(1, log2(rank))", words=("log2", "jarvelin")),
        Parameter("norm", "all", "what to divide by: all relevant documents, or as many as fit "
                  "into the top k", words=("all", "capped")),
        Parameter("multiple", 1.0, "of the number of relevant documents", low=0.0),
        Parameter("recall", None, "the level of recall", low=0.0, high=1.0, includes="both"),
        Parameter("rounding", "nearest", "of recall times the number of relevant documents",
                  words=("nearest", "up")),
        Parameter("p", 0.8, "the chance to go on to the next rank", low=0.0, high=1.0),
        Parameter("grading", "binary", "whether grades count", words=("binary", "graded")),
        Parameter("max", 4.0, "the highest grade of the scale", low=0.0, high=1023.0,
                  includes="high"),
        Parameter("beta", 1.0, "how much more recall counts than precision", low=0.0, high=1e150,
                  includes="both"),
        Parameter("weight", "squared", "whether beta is squared", words=("squared", "plain")),
        # Bounds so far from all doubles that sums, squares and products of two stay within these.
        Parameter("a", 1.0, "worth of a relevant document that was returned", low=-1e100,
                  high=1e100, includes="both"),
        Parameter("b", -1.0, "worth of another document that was returned", low=-1e100,
                  high=1e100, includes="both"),
        Parameter("c", 0.0, "worth of a relevant document that was not returned", low=-1e100,
                  high=1e100, includes="both"),
        Parameter("d", 0.0, "worth of another document that was not returned", low=-1e100,
                  high=1e100, includes="both"),
        Parameter("documents", 0.0, "how many the collection holds", low=0.0, high=1e18,
                  includes="both"),
        Parameter("negative", "unjudged", "what a document of a negative grade is",
                  words=("unjudged", "judged")),
        Parameter("judged_only", False, "whether documents that are not judged are taken out of "
                  "the ranking first"),
    )
}


cdef class MetricRow:
    """One metric: its kernel, its parameters and what is said of it.

    Attributes
    ----------
    name : str
    cutoff : {"required", "optional", "none"}
        Whether ``@k`` must or may be given.
    parameters : tuple of str
        Names of its parameters, of ``PARAMETERS``.
    defaults : dict
        Parameter to default, None where it must be given.
    mean : {"arithmetic", "geometric"}
        How the values of queries become one.
    closed_form : bool
        Whether the mean over all orders of equal scores is known.
    summary, formula, convention, source : str
        What it measures, its formula, what is pinned where others differ, who defined it.
    trec_eval : dict
        Spellings of trec_eval and our name for each, ``{k}`` standing for the cut-off.
    ranx : dict
        Those of ranx, where it means exactly the same.
    synonyms : tuple of str
        Names used elsewhere; suggested for, never accepted.
    ambiguous : str
        Why a spelling with capitals is refused, or empty.
    """

    def __init__(self):
        raise TypeError("rows are made in this module only")

    def __repr__(self):
        return f"<MetricRow {self.name}>"


cdef MetricRow row(
    str name, Kernel kernel, Kernel expected, Reads reads, str cutoff, tuple parameters,
    str summary, str formula, str convention, str source, dict trec_eval, tuple synonyms,
    dict special=None,
):
    """Make a row. What few have: ambiguous, defaults, mean, discounts (it asks for them), erratic
    (it may fall when a better document moves up)."""
    cdef MetricRow self = MetricRow.__new__(MetricRow)
    special = special or {}
    self.kernel = kernel
    self.expected = expected
    self.closed_form = expected != NULL
    self.reads = reads
    self.name = name
    self.cutoff = cutoff
    self.parameters = (*parameters, "judged_only")
    self.defaults = {p: PARAMETERS[p].default for p in self.parameters}
    self.defaults |= special.get("defaults", {})
    self.summary = summary
    self.formula = formula
    self.convention = convention
    self.source = source
    self.trec_eval = trec_eval
    self.synonyms = synonyms
    self.ranx = special.get("ranx", {})
    self.ambiguous = special.get("ambiguous", "")
    self.mean = special.get("mean", "arithmetic")
    self.erratic = special.get("erratic", False)
    self.numbers = tuple([
        p for p in parameters if p not in ("rel", "gain") and not PARAMETERS[p].words
    ])
    if len(self.numbers) > 5:
        raise ValueError(f"{name} has more than five numbers")
    self.discounts = special.get("discounts", False) or "gain" in parameters
    fill(&self.template, self)
    return self


cdef int fill(Params *params, MetricRow row) except -1:
    """The parameters of a metric at their defaults; what has none is left out."""
    memset(params, 0, sizeof(Params))
    params.k = PY_SSIZE_T_MAX
    params.reads = row.reads
    params.discounts = row.discounts
    params.erratic = row.erratic
    params.rel = SMALLEST_POSITIVE if row.reads == GAINS else 1.0
    params.highest = INFINITY
    params.gain = EXPONENTIAL
    for name, default in row.defaults.items():
        if default is not None:
            set_parameter(params, row, name, default)
    return 0


cdef int set_cutoff(Params *params, MetricRow row, object k) except -1:
    cdef int64_t given          # as wide on every platform, so that names and values are the same
    if k is None and row.cutoff != "required":
        params.k = PY_SSIZE_T_MAX
        return 0
    if row.cutoff == "none":
        raise ValueError(f"{row.name} takes no cut-off")
    if type(k) is not int and (isinstance(k, bool) or not isinstance(k, Integral)):
        raise TypeError(f"k must be an integer, not {k!r}")
    try:
        given = k
    except OverflowError:
        given = 0
    if given < 1:
        raise ValueError(f"k must be between 1 and {(1 << 63) - 1}, not {k!r}")
    params.k = <Py_ssize_t> min(given, <int64_t> PY_SSIZE_T_MAX)
    params.divisor = <double> given
    return 0


cdef int set_parameter(Params *params, MetricRow row, str name, object value) except -1:
    """Set one parameter. The entries of a gain that is a mapping are filled in by the caller."""
    cdef Py_ssize_t place
    if name not in row.defaults:
        raise ValueError(
            f"{row.name} has no parameter {name!r}; it takes "
            + " and ".join(map(repr, row.parameters))
        )
    parameter = PARAMETERS[name]
    value = parameter.checked(value)
    if name == "rel":
        params.rel = value
    elif name == "gain":
        params.gain = (
            LINEAR if value == "linear" else EXPONENTIAL if value == "exponential" else MAPPED
        )
    elif name == "discount":
        params.discount_shift = parameter.words.index(value)
    elif name == "judged_only":
        params.judged_only = value
    elif parameter.words:
        params.choice = parameter.words.index(value)
    else:
        place = row.numbers.index(name)
        params.numbers[place] = value
        if name == "max":
            params.highest = value
    return 0
