"""Random signs and random samples of queries, the same on every platform.

The generator counts: word i of a seed is a hash of seed and i (the finaliser of splitmix64, Steele,
Lea and Flood, OOPSLA 2014), so that any draw can be made alone and the digits do not depend on how
the draws are divided. Sums of signed differences are of integers, which have no order.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from rankmeter._core.memory cimport allocate

cdef enum:
    N_LANES = 2                 # columns that are summed at once: as many as a register holds
    N_WIDE = 16                 # or, where there are so many, as all registers hold
    WORD = 64                   # rows whose signs are one word
    NIBBLES = 16                # groups of four rows in a word
    TILE = 512                  # draws that share a table

LANES = N_LANES
WIDE = N_WIDE
ROWS_A_WORD = WORD
MOST_EXACT = 40                 # rows, above which nobody would wait


cdef inline uint64_t mixed(uint64_t z) noexcept nogil:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL
    return z ^ (z >> 31)


cdef inline uint64_t random_word(uint64_t key, uint64_t position) noexcept nogil:
    return mixed(key + (position + 1) * 0x9E3779B97F4A7C15ULL)


cdef void make_tables(const int64_t *rows, Py_ssize_t stride, int64_t *tables) noexcept nogil:
    """Signed sums of every four rows of a word, for each of their 16 patterns of signs.

    A bit that is set is a minus.
    """
    cdef Py_ssize_t group, pattern, lane
    cdef const int64_t *row
    cdef int64_t total
    for group in range(NIBBLES):
        row = rows + 4 * group * stride
        for pattern in range(16):
            for lane in range(N_LANES):
                total = -row[lane] if pattern & 1 else row[lane]
                total += -row[stride + lane] if pattern & 2 else row[stride + lane]
                total += -row[2 * stride + lane] if pattern & 4 else row[2 * stride + lane]
                total += -row[3 * stride + lane] if pattern & 8 else row[3 * stride + lane]
                tables[(group * 16 + pattern) * N_LANES + lane] = total


cdef void add_word(
    const int64_t *tables, uint64_t key, uint64_t first, uint64_t step, Py_ssize_t draws,
    int64_t *sums
) noexcept nogil:
    """Add what the rows of one word contribute to each draw."""
    cdef Py_ssize_t draw, group
    cdef uint64_t bits
    cdef const int64_t *entry
    cdef int64_t one, two
    for draw in range(draws):
        bits = random_word(key, first + <uint64_t> draw * step)
        one = sums[draw * N_LANES]
        two = sums[draw * N_LANES + 1]
        for group in range(NIBBLES):
            entry = tables + (group * 16 + <Py_ssize_t> (bits & 15)) * N_LANES
            one += entry[0]
            two += entry[1]
            bits >>= 4
        sums[draw * N_LANES] = one
        sums[draw * N_LANES + 1] = two


def flip_signs(
    const int64_t[:, ::1] differences,
    const int64_t[::1] thresholds,
    Py_ssize_t begin,
    Py_ssize_t end,
    uint64_t seed,
):
    """Count, for each column, the draws whose sum of signed differences reaches a threshold.

    The signs of a draw are the same for all columns, which keeps their dependence.

    Parameters
    ----------
    differences : int64, rows x columns
        Rows a multiple of ROWS_A_WORD, columns of LANES; more are filled up with 0. The absolute
        values of a column add up to less than 2^62.
    thresholds : int64, one a column
        The absolute sum has to be this or more.
    begin, end : int
        The numbers of the draws.
    seed : int

    Returns
    -------
    list of int
    """
    cdef Py_ssize_t rows = differences.shape[0], columns = differences.shape[1]
    cdef Py_ssize_t words = rows // WORD
    cdef Py_ssize_t column, word, lane, draw, tile, count, i
    cdef uint64_t key = mixed(seed)
    cdef int64_t total
    cdef int64_t *tables
    cdef int64_t *sums
    if rows % WORD or columns % N_LANES or thresholds.shape[0] != columns:
        raise ValueError("differences must be filled up, and every column have a threshold")
    hits = [0] * columns
    cdef int64_t reached[N_LANES]
    # behind the tables of a word, the sums of a tile
    tables = <int64_t *> allocate((NIBBLES * 16 + TILE) * N_LANES, sizeof(int64_t))
    sums = tables + NIBBLES * 16 * N_LANES
    try:
        for column in range(0, columns, N_LANES):
            memset(reached, 0, sizeof(reached))
            with nogil:
                for i in range((end - begin + TILE - 1) // TILE):
                    tile = begin + i * TILE
                    count = min(<Py_ssize_t> TILE, end - tile)
                    memset(sums, 0, TILE * N_LANES * sizeof(int64_t))
                    for word in range(words):
                        make_tables(&differences[word * WORD, column], columns, tables)
                        add_word(
                            tables, key, <uint64_t> tile * <uint64_t> words + <uint64_t> word,
                            <uint64_t> words, count, sums
                        )
                    for draw in range(count):
                        for lane in range(N_LANES):
                            total = sums[draw * N_LANES + lane]
                            if total < 0:
                                total = -total
                            reached[lane] += total >= thresholds[column + lane]
            for lane in range(N_LANES):
                hits[column + lane] = reached[lane]
    finally:
        free(tables)
    return hits


def flip_all_signs(const int64_t[::1] differences, int64_t threshold):
    """Count the patterns of signs whose absolute sum reaches the threshold.

    A pattern and its opposite have the same one: the last sign stays, which leaves 2^(n-1).

    Parameters
    ----------
    differences : int64
        From 1 to 40, whose absolute values add up to less than 2^61.
    threshold : int

    Returns
    -------
    int
    """
    cdef Py_ssize_t n = differences.shape[0], k
    cdef uint64_t i, rest
    cdef int64_t total = 0, hits = 0
    if not 1 <= n <= MOST_EXACT:
        raise ValueError(f"cannot go through the signs of {n} differences")
    with nogil:
        for k in range(n):
            total += differences[k]
        hits = total >= threshold or -total >= threshold
        # Gray's code: each pattern differs in one sign from the one before.
        for i in range(1, <uint64_t> 1 << (n - 1)):
            k, rest = 0, i
            while not rest & 1:
                rest >>= 1
                k += 1
            if (i ^ (i >> 1)) >> k & 1:
                total -= 2 * differences[k]
            else:
                total += 2 * differences[k]
            hits += total >= threshold or -total >= threshold
    return hits


cdef void draw_rows(
    uint64_t key, uint64_t first, Py_ssize_t rows, uint32_t *drawn
) noexcept nogil:
    """As many rows as there are, two of each word from `first` on."""
    cdef uint64_t bits = 0
    cdef Py_ssize_t i
    for i in range(rows):
        if i & 1:
            bits >>= 32
        else:
            bits = random_word(key, first + <uint64_t> (i >> 1))
        drawn[i] = <uint32_t> (((bits & 0xFFFFFFFFULL) * <uint64_t> rows) >> 32)


cdef inline void add_rows(
    const double *values, Py_ssize_t stride, const uint32_t *drawn, Py_ssize_t rows, int lanes,
    double *sums
) noexcept nogil:
    """The sums over the drawn rows of columns that stand side by side; `lanes` is a constant."""
    cdef double totals[N_WIDE]
    cdef const double *row
    cdef Py_ssize_t i
    cdef int lane
    for lane in range(lanes):
        totals[lane] = 0.0
    for i in range(rows):
        row = values + <Py_ssize_t> drawn[i] * stride
        for lane in range(lanes):
            totals[lane] += row[lane]
    for lane in range(lanes):
        sums[lane] = totals[lane]


def bootstrap_sums(
    const double[:, ::1] values, Py_ssize_t begin, Py_ssize_t end, uint64_t seed,
    double[:, ::1] sums
):
    """Sum as many rows as there are, drawn with replacement, for each draw.

    A row is drawn with 32 bits, which favours some rows by n / 2^32 at most. Its columns stay
    together, and the sums run in the order of the draw.

    Parameters
    ----------
    values : float64, rows x columns
        Columns a multiple of LANES; more are filled up. Fastest with WIDE of them.
    begin, end : int
        The numbers of the draws.
    seed : int
    sums : float64, draws x columns
        Filled; the row of draw `begin` is the first.
    """
    cdef Py_ssize_t rows = values.shape[0], columns = values.shape[1]
    cdef uint64_t words = <uint64_t> (rows + 1) // 2
    cdef Py_ssize_t column, draw
    cdef uint64_t key = mixed(seed)
    cdef uint32_t *drawn
    if not 1 <= rows < 1 << 31 or columns % N_LANES or not columns:
        raise ValueError("there must be values, filled up to whole lanes")
    if end < begin or sums.shape[0] != end - begin or sums.shape[1] != columns:
        raise ValueError("there must be one row a draw for the sums")
    drawn = <uint32_t *> allocate(rows, sizeof(uint32_t))
    with nogil:
        for draw in range(begin, end):
            draw_rows(key, <uint64_t> draw * words, rows, drawn)
            column = 0
            while column + N_WIDE <= columns:
                add_rows(
                    &values[0, column], columns, drawn, rows, N_WIDE, &sums[draw - begin, column]
                )
                column += N_WIDE
            while column < columns:
                add_rows(
                    &values[0, column], columns, drawn, rows, N_LANES, &sums[draw - begin, column]
                )
                column += N_LANES
    free(drawn)
