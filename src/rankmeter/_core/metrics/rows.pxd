from rankmeter._core.query cimport Kernel, Params, Reads


cdef double SMALLEST_POSITIVE


cdef class Parameter:
    cdef readonly str name
    cdef readonly object default
    cdef readonly str meaning
    cdef readonly tuple words
    cdef readonly double low
    cdef readonly double high
    cdef readonly str includes
    cdef readonly str why
    cdef str wanted(self)


cdef class MetricRow:
    cdef Kernel kernel
    cdef Kernel expected
    cdef Reads reads
    cdef bint discounts
    cdef bint erratic
    cdef Params template        # at the defaults
    cdef tuple numbers          # names of the parameters in params.numbers
    cdef readonly str name
    cdef readonly str cutoff
    cdef readonly tuple parameters
    cdef readonly dict defaults
    cdef readonly str summary
    cdef readonly str formula
    cdef readonly str convention
    cdef readonly str source
    cdef readonly dict trec_eval
    cdef readonly dict ranx
    cdef readonly tuple synonyms
    cdef readonly str ambiguous
    cdef readonly str mean
    cdef readonly bint closed_form


cdef MetricRow row(
    str name, Kernel kernel, Kernel expected, Reads reads, str cutoff, tuple parameters,
    str summary, str formula, str convention, str source, dict trec_eval, tuple synonyms,
    dict special=*,
)
cdef list read_gains(object gain)
cdef int set_cutoff(Params *params, MetricRow row, object k) except -1
cdef int set_parameter(Params *params, MetricRow row, str name, object value) except -1
