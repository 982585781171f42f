/* The truth sweep of a blocked sampler as one writes it in C with OpenMP: the same sums, the same
   random numbers, so that the counts can be compared to the last one. */
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t n_items, n_annotators, n_classes, n_answers;
    const uint64_t *key;
    const int64_t *item_start;
    const int32_t *item_annotator, *item_answer, *gold;
    const double *balance, *chance;
    int64_t *class_total;
    int32_t *said;
    double *sums;
    uint64_t low, high, sweep;
} Crowd;

static double uniform(uint64_t key, uint64_t low, uint64_t high, uint64_t sweep) {
    uint32_t a = sweep, b = 0, c = key, d = key >> 32, k0 = low, k1 = high;
    for (int round = 0; round < 10; round++) {
        uint64_t first = (uint64_t)a * 0xD2511F53u, second = (uint64_t)c * 0xCD9E8D57u;
        a = (uint32_t)(second >> 32) ^ b ^ k0;
        b = second;
        c = (uint32_t)(first >> 32) ^ d ^ k1;
        d = first;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (double)((((uint64_t)a << 32) | b) >> 11) * 0x1p-53;
}

static void sweep_range(const Crowd *x, int64_t from, int64_t to, int64_t *total, int32_t *said) {
    const int64_t T = x->n_classes, C = x->n_answers;
    double weight[64];
    for (int64_t i = from; i < to; i++) {
        int64_t truth = x->gold[i], start = x->item_start[i], end = x->item_start[i + 1];
        if (truth < 0 && start < end) {
            for (int64_t t = 0; t < T; t++) weight[t] = x->balance[t];
            for (int64_t k = start; k < end; k++) {
                const double *row = x->chance + (x->item_annotator[k] * C + x->item_answer[k]) * T;
                for (int64_t t = 0; t < T; t++) weight[t] *= row[t];
            }
            double sum = 0, u = uniform(x->key[i], x->low, x->high, x->sweep);
            for (int64_t t = 0; t < T; t++) sum += weight[t];
            truth = 0;
            for (int64_t t = 0; t < T; t++) {
                double p = weight[t] * (1 / sum);
                x->sums[i * T + t] += p;
                u -= p;
                truth += u >= 0;
            }
            if (truth > T - 1) truth = T - 1;
        }
        if (truth < 0) continue;
        total[truth]++;
        for (int64_t k = start; k < end; k++)
            said[(x->item_annotator[k] * C + x->item_answer[k]) * T + truth]++;
    }
}

void sweep(const Crowd *x, int64_t threads) {
    const int64_t T = x->n_classes, cells = x->n_annotators * x->n_answers * T;
    memset(x->class_total, 0, T * sizeof(int64_t));
    memset(x->said, 0, cells * sizeof(int32_t));
#pragma omp parallel num_threads(threads)
    {
        int64_t me = omp_get_thread_num(), total[64] = {0};
        int32_t *said = calloc(cells, sizeof(int32_t));
        sweep_range(x, x->n_items * me / threads, x->n_items * (me + 1) / threads, total, said);
#pragma omp critical
        {
            for (int64_t t = 0; t < T; t++) x->class_total[t] += total[t];
            for (int64_t k = 0; k < cells; k++) x->said[k] += said[k];
        }
        free(said);
    }
}
