/* The engine of the live pages: the same runs as momab's, arm by arm, in WebAssembly.

   It is an independent twin of the Python that the book shows, in momab/engine unless said otherwise:

   logarithm                           momab/model/numerics.py: log
   philox, reward_word, reward, toss   streams.py: philox, reward_words, rewards
   coin_word, chosen, top              streams.py: word; tools.py: choose, choose_top
   pull, certify, hold, play           driver.py: pull, finish, play_run; tools.py: commit
   rerank, race, race_by_coins, width_guided_moved, select_width_guided, kl_apart, kl_certified
                                       policies/width_guided.py: reorder, race, draw_pair,
                                       WidthGuided.moved, WidthGuided.select, kl_apart, kl_certifies
   dominates, dominated, first_proof, select_pareto_ucb1
                                       policies/pareto_ucb1.py: row_dominates, find_front,
                                       certified_arm, optimistic_arm
   select_annealing                    policies/annealing.py: AnnealingPareto.select
   paper_weights, select_scalarized    policies/scalarized.py: paper_weights, ScalarizedUCB.select
   watch, select_single_ucb1           policies/base.py: watched_objective;
                                       policies/single_ucb1.py: SingleUCB1.select
   kl, klucb_index, select_klucb       policies/kl_ucb.py: kl_above, bisected_index, KLUCB.select
   kl_plus, compare, imed_moved, imed_candidate, select_imed
                                       policies/pareto_imed.py: divergence, compare_arms,
                                       bring_up_to_date, find_prices, ParetoIMED.select
   imed_room, imed_stay                accelerators/pareto_imed.py: pulls_inside, look_for_box,
                                       FastParetoIMED.moved

   Only IEEE additions, multiplications, divisions and square roots decide anything, and the compiler
   may not fuse or reorder them, so the digits are those of Python.

   What is not recomputed in a round is what did not change: a pull moves one arm.

   A page calls `instance`, `policy`, `start`, then `play` as often as it likes, and reads counts
   and sums where `counts` and `sums` say.  Nothing is allocated after `start`. */

typedef unsigned int u32;
typedef unsigned long long u64;

#define EXPORT(name) __attribute__((export_name(#name))) name
#define INF __builtin_inf()

static const double TIE = 1e-12, PRECISION = 1e-9, GUARD = 1e-11;

enum { BERNOULLI, DUPLICATED, ROWS, SAMPLES };
enum { WIDTH_GUIDED, PARETO_UCB1, ANNEALING, SCALARIZED, PARETO_IMED, KL_UCB, SINGLE_UCB1 };
enum { WIDEST, RANDOM, ROUND_ROBIN, ORACLE };

static double max(double x, double y) { return x > y ? x : y; }
static double min(double x, double y) { return x < y ? x : y; }
static double distance(double x) { return x < 0 ? -x : x; }
static double root(double x) { return __builtin_sqrt(x); }

/* Memory: one stack, which `clear` empties. */

extern unsigned char __heap_base;
static u32 used;

void *EXPORT(room)(u32 bytes) {
    if (!used) used = ((u32)&__heap_base + 15) & ~15u;
    u32 at = used;
    used += (bytes + 15) & ~15u;
    u32 pages = (used + 65535) >> 16, have = (u32)__builtin_wasm_memory_size(0);
    if (pages > have && __builtin_wasm_memory_grow(0, pages - have) == (u32)-1) __builtin_trap();
    unsigned char *bytes_at = (unsigned char *)at;
    for (u32 i = 0; i < bytes; i++) bytes_at[i] = 0;
    return bytes_at;
}

void EXPORT(clear)(void) { used = 0; }

static double *numbers(u32 n) { return room(n * sizeof(double)); }
static int *integers(u32 n) { return room(n * sizeof(int)); }

/* momab.model.numerics.log */

double EXPORT(logarithm)(double x) {
    u64 bits;
    __builtin_memcpy(&bits, &x, 8);
    double k = (double)((int)(bits >> 52) - 1022), m;
    bits = (bits & 0x000FFFFFFFFFFFFFull) | 0x3FE0000000000000ull;
    __builtin_memcpy(&m, &bits, 8);
    if (m < 0.7071067811865476) m = 2.0 * m, k = k - 1.0;
    double f = m - 1.0, s = f / (2.0 + f), z = s * s;
    double p = 0.15331721600556042 + z * 0.14616449685043406;
    p = 0.2222221113479508 + z * (0.18182889125261723 + z * p);
    p = 0.666666666666667 + z * (0.39999999999899505 + z * (0.28571428625975487 + z * p));
    double half = 0.5 * f * f;
    double leading = k * 0.6931471805582987, rest = k * 1.6465949582897082e-12;
    return leading - ((half - (s * (half + z * p) + rest)) - f);
}

static double kl(double p, double q) {
    double total = 0.0;
    if (p > 0.0) total += p * logarithm(p / q);
    if (p < 1.0) {
        if (q >= 1.0) return INF;
        total += (1.0 - p) * logarithm((1.0 - p) / (1.0 - q));
    }
    return total;
}

/* momab.engine.streams */

static u32 key0, key1, run, stream;

static void philox(u32 x0, u32 x1, u32 x2, u32 x3, u32 *out) {
    u32 a = key0, b = key1;
    for (int i = 0; i < 10; i++) {
        u64 p = 0xD2511F53ull * x0, q = 0xCD9E8D57ull * x2;
        x0 = (u32)(q >> 32) ^ x1 ^ a;
        x1 = (u32)q;
        x2 = (u32)(p >> 32) ^ x3 ^ b;
        x3 = (u32)p;
        a += 0x9E3779B9u;
        b += 0xBB67AE85u;
    }
    out[0] = x0, out[1] = x1, out[2] = x2, out[3] = x3;
}

static int kind, K, d, words_per_pull;
static u64 *threshold;
static double *value;
static int *offset;

/* BERNOULLI: the means, K times d; DUPLICATED: one per arm; ROWS: the table, row by row, and the
   first row of every arm; SAMPLES: all samples, and the first of every arm and objective. */
void EXPORT(instance)(int source, int arms, int objectives, double *given, int *offsets) {
    kind = source, K = arms, d = objectives, value = given, offset = offsets;
    words_per_pull = kind == DUPLICATED || kind == ROWS ? 1 : d;
    if (kind == BERNOULLI || kind == DUPLICATED) {
        u32 n = K * words_per_pull;
        threshold = room(n * sizeof(u64));
        for (u32 i = 0; i < n; i++) threshold[i] = (u64)__builtin_rint(given[i] * 4294967296.0);
    }
}

/* The last block of words of every arm. */
static u32 (*block)[4];
static u32 *block_number;

static u32 reward_word(int a, u64 w) {
    u32 number = (u32)(w >> 2);
    if (block_number[a] != number) {
        philox(number, a, run, 0, block[a]);
        block_number[a] = number;
    }
    return block[a][w & 3];
}

/* The n-th reward of an arm, n from 0, into out. */
static void reward(int a, u64 n, double *out) {
    u64 w = n * words_per_pull;
    if (kind == BERNOULLI) {
        for (int j = 0; j < d; j++) out[j] = reward_word(a, w + j) < threshold[a * d + j];
    } else if (kind == DUPLICATED) {
        double one = reward_word(a, w) < threshold[a];
        for (int j = 0; j < d; j++) out[j] = one;
    } else if (kind == ROWS) {
        u64 size = offset[a + 1] - offset[a];
        u64 row = offset[a] + ((reward_word(a, w) * size) >> 32);
        for (int j = 0; j < d; j++) out[j] = value[row * d + j];
    } else {
        for (int j = 0; j < d; j++) {
            int at = offset[a * d + j];
            u64 size = offset[a * d + j + 1] - at;
            out[j] = value[at + ((reward_word(a, w + j) * size) >> 32)];
        }
    }
}

/* The state of a run. */

static double T, t;                      /* the horizon, and pulls already made */
static double *N, *sum, *mean, *gained;  /* K, K d, K d, d */
static double certificate_round;
static int certificate_arm, certificate_objective;
static unsigned short *trace;            /* the arms of the rounds, if asked for */

static double coins_of_round;
static u32 coin_group, coin[4];

static u32 coin_word(u32 slot) {
    if (coins_of_round != t || coin_group != slot >> 2) {
        philox((u32)t, slot >> 2, run, stream, coin);
        coins_of_round = t, coin_group = slot >> 2;
    }
    return coin[slot & 3];
}

static int chosen(int n, u32 slot) { return n > 1 ? (int)(((u64)coin_word(slot) * n) >> 32) : 0; }

/* A coin's choice among the values within TIE of the largest. */
static int top(const double *values, int n, u32 slot) {
    double most = -INF, next = -INF;
    int tied = 0, which = 0;
    for (int a = 0; a < n; a++) {
        if (values[a] > most) next = most, most = values[a], which = a;
        else next = max(next, values[a]);
    }
    if (next < most - TIE) return which;
    for (int a = 0; a < n; a++) tied += values[a] >= most - TIE;
    int left = chosen(tied, slot);
    for (int a = 0; a < n; a++)
        if (values[a] >= most - TIE && left-- == 0) which = a;
    return which;
}

static void pull(int a) {
    reward(a, (u64)N[a], gained);
    double n = N[a] + 1.0;
    for (int j = 0; j < d; j++) {
        sum[a * d + j] += gained[j];
        mean[a * d + j] = sum[a * d + j] / n;
    }
    if (trace) trace[(u32)t] = (unsigned short)a;
    N[a] = n;
    t += 1.0;
}

static void certify(int a, int j) {
    certificate_round = t, certificate_arm = a, certificate_objective = j;
}

/* What several policies need: scratch for K values, the order of arms, options. */
static double *score, *other;
static int *mark;
static double option[4];
static int champion;
static double clog; /* c log T, or what a policy makes of its coefficient */

/* Width-guided (momab.engine.policies.width_guided): per objective a race of two arms. */

static double *U, *beta, *W;  /* U: d rows of K */
static int *leader, *rival, *best, *witness;
static int *order, *place;    /* d rows of K: the arms by falling U, and where each of them is */

/* Move an arm to its place in an objective's order. */
static void rerank(int j, int a) {
    const double *u = U + j * K;
    int *by = order + j * K, *at = place + j * K, p = at[a];
    for (; p > 0 && u[by[p - 1]] < u[a]; p--) at[by[p] = by[p - 1]] = p;
    for (; p < K - 1 && u[by[p + 1]] > u[a]; p++) at[by[p] = by[p + 1]] = p;
    at[by[p] = a] = p;
}

/* The first two arms of a race by coins, where some bounds are within TIE of each other. */
static void race_by_coins(int j) {
    const double *u = U + j * K;
    double most = -INF;
    int close = 0;
    leader[j] = top(u, K, 2 * j);
    for (int a = 0; a < K; a++)
        if (a != leader[j]) most = max(most, u[a]);
    for (int a = 0; a < K; a++) close += a != leader[j] && u[a] >= most - TIE;
    int left = chosen(close, 2 * j + 1);
    for (int a = 0; a < K; a++)
        if (a != leader[j] && u[a] >= most - TIE && left-- == 0) rival[j] = a;
}

static void race(int j) {
    const double *u = U + j * K;
    const int *by = order + j * K;
    leader[j] = by[0], rival[j] = by[K > 1];
    double first = u[by[0]], second = u[rival[j]];
    if (second >= first - TIE || (K > 2 && u[by[2]] >= second - TIE)) race_by_coins(j);
    W[j] = beta[leader[j]] + beta[rival[j]];
}

/* Whether the kl interval of arm a lies above that of arm b on objective j. */
static int kl_apart(int a, int b, int j, double level) {
    double p = mean[a * d + j], q = mean[b * d + j], high = p, low = q;
    double gap = p - q, radii = beta[a] + beta[b];
    if (p - beta[a] > q + beta[b]) return 1;
    if (gap <= PRECISION) return 0;
    if (gap * gap <= 4.0 * min(p * (1.0 - p), q * (1.0 - q)) * (radii * radii)) return 0;
    while (p - q > PRECISION) {
        double x = 0.5 * (p + q);
        int above = N[b] * kl(low, x) > level, below = N[a] * kl(high, x) > level;
        if (above == below) return above;
        if (above) p = x;
        else q = x;
    }
    return 0;
}

static int kl_certified(int j) {
    best[j] = 0;
    for (int a = 1; a < K; a++)
        if (mean[a * d + j] > mean[best[j] * d + j]) best[j] = a;
    if (witness[j] != best[j] && !kl_apart(best[j], witness[j], j, 2.0 * clog)) return 0;
    for (int a = 0; a < K; a++)
        if (a != best[j] && !kl_apart(best[j], a, j, 2.0 * clog)) {
            witness[j] = a;
            return 0;
        }
    return 1;
}

static void width_guided_moved(int a) {
    beta[a] = root(clog / N[a]);
    for (int j = 0; j < d; j++) {
        U[j * K + a] = mean[a * d + j] + beta[a];
        rerank(j, a);
    }
}

static int select_width_guided(void) {
    int rule = (int)option[1], by_kl = (int)option[2], proofs = 0, j;
    for (j = 0; j < d; j++) {
        race(j);
        int arm = leader[j], proved = mean[arm * d + j] - beta[arm] > U[j * K + rival[j]];
        if (by_kl && !proved && kl_certified(j)) proved = 1, arm = best[j];
        if (proved) mark[proofs] = j, best[j] = arm, other[proofs++] = W[j];
    }
    if (proofs) {
        j = mark[top(other, proofs, 2 * d)];
        certify(best[j], j);
        return best[j];
    }
    if (rule == WIDEST) j = top(W, d, 2 * d + 1);
    else if (rule == RANDOM) j = chosen(d, 2 * d + 1);
    else if (rule == ROUND_ROBIN) j = (int)((u64)(t - K) % (u64)d);
    else j = champion;
    int b = leader[j], c = rival[j], low = b < c ? b : c, high = b < c ? c : b;
    if (beta[high] < beta[low] - TIE) return low;
    if (beta[low] < beta[high] - TIE) return high;
    return chosen(2, 2 * d + 2) ? high : low;
}

/* Whether vector x dominates vector y. */
static int dominates(const double *x, const double *y) {
    int more = 0;
    for (int j = 0; j < d; j++) {
        if (x[j] < y[j]) return 0;
        more |= x[j] > y[j];
    }
    return more;
}

/* Whether some row dominates row a; the last one that did is asked first. */
static int dominated(const double *rows, int a) {
    if (dominates(rows + witness[a] * d, rows + a * d)) return 1;
    for (int b = 0; b < K; b++)
        if (dominates(rows + b * d, rows + a * d)) {
            witness[a] = b;
            return 1;
        }
    return 0;
}

/* Pareto UCB1 (momab.engine.policies.pareto_ucb1), which may stop at a certificate. */

static double *optimistic;  /* K rows of d */

static int first_proof(void) {
    int proofs = 0;
    for (int j = 0; j < d; j++) {
        int a = 0;
        double rivals = -INF, close = 0.0;
        for (int b = 0; b < K; b++) {
            score[b] = mean[b * d + j] + beta[b];
            if (score[b] > score[a]) a = b;
        }
        score[a] = -INF;
        for (int b = 0; b < K; b++) rivals = max(rivals, score[b]);
        if (!(mean[a * d + j] - beta[a] > rivals)) continue;
        for (int b = 0; b < K; b++)
            if (score[b] >= rivals - TIE) close = max(close, beta[b]);
        mark[2 * proofs] = a, mark[2 * proofs + 1] = j, other[proofs++] = beta[a] + close;
    }
    if (!proofs) return 0;
    int which = top(other, proofs, 1);
    certify(mark[2 * which], mark[2 * which + 1]);
    return 1;
}

static int select_pareto_ucb1(void) {
    if (option[2] && first_proof()) return certificate_arm;
    double level = option[0] * logarithm(t * option[1]);
    for (int a = 0; a < K; a++) {
        double radius = root(level / N[a]);
        for (int j = 0; j < d; j++) optimistic[a * d + j] = mean[a * d + j] + radius;
    }
    int n = 0;
    for (int a = 0; a < K; a++)
        if (!dominated(optimistic, a)) mark[n++] = a;
    return mark[chosen(n, 0)];
}

/* Annealing-Pareto (momab.engine.policies.annealing). */

static double power;
static int *candidate;

static int select_annealing(void) {
    double epsilon = power / (double)(K * d);
    int n = 0;
    power *= option[0];
    for (int j = 0; j < d; j++) {
        other[j] = -INF;
        for (int a = 0; a < K; a++) other[j] = max(other[j], mean[a * d + j]);
    }
    for (int a = 0; a < K; a++) {
        int near = 0;
        for (int j = 0; j < d; j++) near |= mean[a * d + j] >= other[j] - epsilon;
        candidate[a] = near || (candidate[a] && !dominated(mean, a));
        if (candidate[a]) mark[n++] = a;
    }
    return mark[chosen(n, 0)];
}

/* Scalarized UCB (momab.engine.policies.scalarized), with the paper's weights. */

static double *weight;
static int weights;

static void add_weight(void) {
    for (int k = 0; k < weights; k++) {
        int same = 1;
        for (int j = 0; j < d; j++) same &= weight[k * d + j] == weight[weights * d + j];
        if (same) return;
    }
    weights++;
}

static void add_grid(int j, int left) {
    double *w = weight + weights * d;
    if (j == d - 1) {
        for (int i = 0; i < j; i++) w[i] = mark[i] / 4.0;
        w[j] = left / 4.0;
        add_weight();
        return;
    }
    for (mark[j] = 0; mark[j] <= left; mark[j]++) add_grid(j + 1, left - mark[j]);
}

static void paper_weights(void) {
    double u = 1.0 / d;
    weight = numbers(d * (d <= 6 ? 128 : 1 + 3 * d + d * (d - 1) / 2));
    weights = 0;
    for (int j = 0; j < d; j++) weight[j] = u;
    weights = 1;
    if (d <= 6) {
        add_grid(0, 4);
        return;
    }
    for (int part = 0; part < 3; part++)
        for (int k = 0; k < d; k++, weights++)
            for (int j = 0; j < d; j++) {
                double e = j == k, *w = weight + weights * d + j;
                *w = part == 0 ? e : part == 1 ? u / 2.0 + e / 2.0 : 0.1 * u + 0.9 * e;
            }
    for (int i = 0; i < d; i++)
        for (int k = i + 1; k < d; k++, weights++)
            for (int j = 0; j < d; j++) weight[weights * d + j] = ((j == i) + (j == k)) / 2.0;
}

static int select_scalarized(void) {
    const double *w = weight + ((u64)(t - K) % (u64)weights) * d;
    for (int a = 0; a < K; a++) {
        score[a] = 0.0;
        for (int j = 0; j < d; j++) score[a] += w[j] * mean[a * d + j];
        score[a] += beta[a];
    }
    return top(score, K, 0);
}

/* One objective: UCB1 and KL-UCB (momab.engine.policies.single_ucb1 and kl_ucb). */

static int watched;

static void watch(void) {
    if (watched < 0) watched = option[0] < 0 ? chosen(d, 1) : (int)option[0];
}

static int select_single_ucb1(void) {
    watch();
    double level = option[1] * logarithm(t);
    for (int a = 0; a < K; a++) score[a] = mean[a * d + watched] + root(level / N[a]);
    return top(score, K, 0);
}

static double klucb_index(double p, double n, double level) {
    double low = p, high = min(1.0, p + root(level / (2.0 * n)));
    if (high == 1.0 && n * kl(p, high) <= level) return high;
    while (high - low > PRECISION) {
        double middle = 0.5 * (low + high);
        if (n * kl(p, middle) <= level) low = middle;
        else high = middle;
    }
    return low;
}

/* Whether q is clearly beyond an arm's index, which one kl tells. */
static int beyond(int a, double q, double level) {
    double p = mean[a * d + watched], below = q - GUARD;
    return p < below && N[a] * kl(p, below) > level;
}

static int select_klucb(void) {
    watch();
    double level = logarithm(t);
    int first = 0;
    for (int a = 1; a < K; a++)
        if (N[a] > N[first]) first = a;
    double p = mean[first * d + watched], n = N[first];
    double q = p + 0.95 * root(2.0 * level * p * (1.0 - p) / n);
    if (q + 2.0 * PRECISION < 1.0 && n * kl(p, q + 2.0 * PRECISION) <= level) {
        int a = 0;
        while (a < K && (a == first || beyond(a, q, level))) a++;
        if (a == K) return first;
    }
    q = klucb_index(p, n, level);
    for (int a = 0, start = first; a < K; a++) {
        if (a == start || beyond(a, q, level)) continue;
        double index = klucb_index(mean[a * d + watched], N[a], level);
        int fewer = N[a] < N[first] || (N[a] == N[first] && a < first);
        if (index > q || (index == q && fewer)) first = a, q = index;
    }
    return first;
}

/* Pareto IMED (momab.engine.policies.pareto_imed; the stays are those of the compiled kernel). */

static double *log_one, *log_zero, *entropy, *log_count;  /* K d, K d, K d, K */
static double *lead, *evidence, *each;  /* K by K: min_j (m_c - m_b); D_b(a) at [a][b]; 1 / it at [b][a] */
static double *gap, *price, *low, *high, *floor_of, *box;
static double stay_until, side, reach, retry;

static double kl_plus(int b, int a, int j) {
    double p = mean[b * d + j], q = mean[a * d + j], x = q - p;
    if (!(x > 0.0)) return 0.0;
    double found = entropy[b * d + j] - (p * log_one[a * d + j] + (1.0 - p) * log_zero[a * d + j]);
    return max(found, 2.0 * x * x);
}

static void compare(int b, int a) {
    double least = INF, D = 0.0;
    for (int j = 0; j < d; j++) {
        least = min(least, mean[b * d + j] - mean[a * d + j]);
        double found = kl_plus(b, a, j);
        D = option[0] ? D + found : max(D, found);
    }
    lead[b * K + a] = least;
    evidence[a * K + b] = D;
    each[b * K + a] = D > 0.0 ? 1.0 / D : 0.0;
}

static void imed_moved(int a) {
    log_count[a] = logarithm(N[a]);
    for (int j = 0; j < d; j++) {
        double m = mean[a * d + j], one = m > 0.0 ? logarithm(m) : 0.0;
        double zero = m < 1.0 ? logarithm(1.0 - m) : -INF;
        log_one[a * d + j] = one, log_zero[a * d + j] = zero;
        entropy[a * d + j] = m < 1.0 ? m * one + (1.0 - m) * zero : 0.0;
    }
    for (int b = 0; b < K; b++) compare(a, b), compare(b, a);
}

static int imed_candidate(void) {
    for (int b = 0; b < K; b++) {
        gap[b] = 0.0;
        for (int c = 0; c < K; c++) gap[b] = max(gap[b], lead[c * K + b]);
        if (!(gap[b] > TIE)) gap[b] = 0.0;
    }
    for (int a = 0; a < K; a++) {
        price[a] = 0.0;
        for (int b = 0; b < K; b++)
            if (gap[b] > 0.0) price[a] += gap[b] * each[b * K + a];
        price[a] = gap[a] > 0.0 ? -INF : -price[a];
    }
    return top(price, K, 0);
}

/* How many more pulls of arm a the full computation certainly wants, or 0, while it is the only
   arm that moves, and no mean of it by more than `wide`.  See _imed_room in the library. */
static double imed_room(int a, double wide) {
    for (int c = 0; c < K; c++)
        if (c != a && lead[c * K + a] + wide > 0.0) return 0.0;
    for (int b = 0; b < K; b++) floor_of[b] = 0.0;
    for (int j = 0; j < d; j++) {
        double q = mean[a * d + j] - wide;
        if (!(q > 0.0)) continue;
        double one = logarithm(q), zero = logarithm(1.0 - q);
        for (int b = 0; b < K; b++) {
            double p = mean[b * d + j];
            double found = p < q ? max(0.0, entropy[b * d + j] - (p * one + (1.0 - p) * zero)) : 0.0;
            floor_of[b] = option[0] ? floor_of[b] + found : max(floor_of[b], found);
        }
    }
    double least = INF, most = 0.0;
    for (int b = 0; b < K; b++) {
        floor_of[b] = floor_of[b] * (1.0 - GUARD) - d * GUARD;
        if (b != a) least = min(least, N[b] * floor_of[b] + log_count[b]);
    }
    double pulls = min(1.0, least * (1.0 - GUARD) - log_count[a] - GUARD) * N[a];
    if (!(pulls >= 4.0)) return 0.0;
    int rivals = 0;
    for (int b = 0; b < K; b++) {
        low[b] = 0.0;
        for (int c = 0; c < K; c++)
            if (c != a) low[b] = max(low[b], lead[c * K + b]);
        high[b] = max(low[b], lead[a * K + b] + wide);
        low[b] = max(low[b], lead[a * K + b] - wide);
        rivals += low[b] <= 2.0 * TIE;
    }
    if (rivals > 1) {
        for (int b = 0; b < K; b++)
            if (b != a && high[b] > 0.0) {
                if (!(floor_of[b] > 0.0)) return 0.0;
                most += high[b] / floor_of[b];
            }
        for (int f = 0; f < K; f++) {
            if (f == a || low[f] > 2.0 * TIE) continue;
            double costs = 0.0;
            for (int b = 0; b < K; b++)
                if (b != a && low[b] > 2.0 * TIE) costs += low[b] * each[b * K + f];
            if (!(costs * 0.999999 - GUARD > most)) return 0.0;
        }
    }
    return __builtin_floor(pulls);
}

static int select_imed(void) {
    int a = imed_candidate();
    for (int b = 0; b < K; b++) score[b] = -(N[b] * evidence[a * K + b] + log_count[b]);
    int arm = top(score, K, 1);
    if (arm != a || t < retry) return arm;
    side = reach / N[a];
    double pulls = imed_room(a, side + GUARD);
    if (pulls > 0.0) {
        stay_until = N[a] + pulls;
        for (int j = 0; j < d; j++) box[j] = mean[a * d + j];
    } else if (reach > 2.0) {
        reach *= 0.5;
    } else {
        retry = t + 16.0, reach = 8.0;
    }
    return arm;
}

/* Pull arm a while its means stay in their box. */
static void imed_stay(int a, double end) {
    double n = N[a], from = t, last = min(stay_until, n + (end - t));
    int inside = 1;
    while (inside && n < last) {
        reward(a, (u64)n, gained);
        n += 1.0;
        for (int j = 0; j < d; j++) {
            double total = sum[a * d + j] += gained[j];
            inside &= distance(total - box[j] * n) <= side * n;
        }
    }
    t += n - N[a], N[a] = n;
    if (trace)
        for (double s = from; s < t; s += 1.0) trace[(u32)s] = (unsigned short)a;
    for (int j = 0; j < d; j++) mean[a * d + j] = sum[a * d + j] / n;
    if (!inside) reach *= 2.0;
    if (!inside || n == stay_until) stay_until = 0.0;
    if (stay_until == 0.0) imed_moved(a);
}

/* Playing. */

static int who;

/* The policy, its options in the order of its record (words as their places in the lists above),
   the stream of its coins, and the champion objective for those that are told. */
void EXPORT(policy)(int which, double o0, double o1, double o2, u32 coins, int told) {
    who = which, stream = coins, champion = told;
    option[0] = o0, option[1] = o1, option[2] = o2;
}

void EXPORT(start)(double horizon, u32 seed_low, u32 seed_high, u32 run_number, int traced) {
    T = horizon, t = 0.0, key0 = seed_low, key1 = seed_high, run = run_number;
    u32 n = K * d, wide = 2 * (K > d ? K : d) + 2;
    N = numbers(K), sum = numbers(n), mean = numbers(n), gained = numbers(d);
    score = numbers(wide), other = numbers(wide), mark = integers(2 * wide);
    block = room(K * sizeof *block), block_number = room(K * sizeof *block_number);
    for (int a = 0; a < K; a++) block_number[a] = 0xFFFFFFFFu;
    trace = traced ? room((u32)T * sizeof *trace) : 0;
    coins_of_round = -1.0, certificate_round = -1.0, certificate_arm = certificate_objective = -1;
    witness = integers(wide), beta = numbers(K);
    clog = 0.0;
    if (who == WIDTH_GUIDED) {
        clog = option[0] * logarithm(T);
        U = numbers(n), W = numbers(d);
        leader = integers(d), rival = integers(d), best = integers(d);
        order = integers(n), place = integers(n);
        for (u32 i = 0; i < n; i++) U[i] = -INF, order[i] = place[i] = i % K;
    } else if (who == PARETO_UCB1) {
        clog = option[3] * logarithm(T);
        optimistic = numbers(n);
    } else if (who == ANNEALING) {
        power = 1.0, candidate = integers(K);
        for (int a = 0; a < K; a++) candidate[a] = 1;
    } else if (who == SCALARIZED) {
        clog = option[0] * logarithm(T);
        paper_weights();
    } else if (who == PARETO_IMED) {
        log_one = numbers(n), log_zero = numbers(n), entropy = numbers(n), log_count = numbers(K);
        lead = numbers(K * K), evidence = numbers(K * K), each = numbers(K * K);
        gap = numbers(K), price = numbers(K), low = numbers(K), high = numbers(K);
        floor_of = numbers(K), box = numbers(d);
        stay_until = 0.0, reach = 8.0, retry = 0.0;
    } else {
        watched = -1;
    }
}

/* The coefficient of the certificate at which Pareto UCB1 stops. */
void EXPORT(stop_coefficient)(double c) { option[3] = c; }

static void arm_moved(int a) {
    if (who == WIDTH_GUIDED) width_guided_moved(a);
    else if (who == PARETO_UCB1 || who == SCALARIZED) beta[a] = root(clog / N[a]);
    else if (who == PARETO_IMED && t >= K) imed_moved(a);
}

static int selected(void) {
    if (who == WIDTH_GUIDED) return select_width_guided();
    if (who == PARETO_UCB1) return select_pareto_ucb1();
    if (who == ANNEALING) return select_annealing();
    if (who == SCALARIZED) return select_scalarized();
    if (who == PARETO_IMED) return select_imed();
    return who == KL_UCB ? select_klucb() : select_single_ucb1();
}

/* After a certificate only the count goes on: nothing is decided any more. */
static void hold(double end) {
    if (trace)
        for (double s = t; s < end; s += 1.0) trace[(u32)s] = (unsigned short)certificate_arm;
    N[certificate_arm] += end - t;
    t = end;
}

/* Play so many more rounds, to the horizon at most, and return how many pulls were made so far. */
double EXPORT(play)(double rounds) {
    double end = min(T, t + rounds);
    int arm = 0;
    static int stayed;
    while (t < end) {
        if (certificate_arm >= 0) {
            hold(end);
        } else if (who == PARETO_IMED && stay_until > 0.0 && t > K) {
            imed_stay(stayed, end);
        } else if (t < K) {
            pull(arm = (int)t);
            arm_moved(arm);
            if (who == PARETO_IMED && t == K)
                for (int a = 0; a < K; a++) imed_moved(a);
        } else {
            arm = selected();
            stayed = arm;
            if (certificate_arm < 0 && !(who == PARETO_IMED && stay_until > 0.0)) {
                pull(arm);
                arm_moved(arm);
            } else if (certificate_arm < 0) {
                imed_stay(arm, end);
            }
        }
    }
    return t;
}

double *EXPORT(counts)(void) { return N; }
double *EXPORT(sums)(void) { return sum; }
unsigned short *EXPORT(arms)(void) { return trace; }
double EXPORT(proved_when)(void) { return certificate_round; }
int EXPORT(proved_arm)(void) { return certificate_arm; }
int EXPORT(proved_objective)(void) { return certificate_objective; }

/* What Width-guided sees: upper bounds (d rows of K), radii, the two arms of every race. */
double *EXPORT(upper)(void) { return U; }
double *EXPORT(radii)(void) { return beta; }
int *EXPORT(leaders)(void) { return leader; }
int *EXPORT(rivals)(void) { return rival; }

/* The n-th reward of an arm on one objective, for pages that toss coins. */
double EXPORT(toss)(int a, double n, int j) {
    reward(a, (u64)n, gained);
    return gained[j];
}
