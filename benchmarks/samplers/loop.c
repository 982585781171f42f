/* The truth sweep of iBCC as a plain loop: what the sampler is measured against.

   The same work on the same layouts: item out of the counts, weights, one uniform, item back in,
   probabilities tallied. Repeated labels of one annotator are neighbours (rising factorials);
   -DNO_REPEATS gives the loop of somebody who knows that there are none. */
#include <stdint.h>

typedef struct {
  int64_t n_items, n_classes, n_answers;
  const int64_t *item_start;                   /* (items + 1,) */
  const int32_t *item_annotator, *item_answer; /* (labels,) */
  const double *class_weight, *weight, *strength; /* (T,), (T, C), (T,) */
  int32_t *truth;                              /* (items,) */
  int64_t *class_total;                        /* (T,) */
  int32_t *said, *said_total;                  /* (annotators, T, C), (annotators, T) */
  double *tally;                               /* (items, T) */
  uint64_t rng[4];
} Crowd;

static inline uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline double uniform(uint64_t s[4]) { /* xoshiro256++ */
  const uint64_t result = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
  s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3];
  s[2] ^= t; s[3] = rotate(s[3], 45);
  return (result >> 11) * 0x1.0p-53;
}

static inline void count(Crowd *d, int64_t i, int32_t sign) {
  const int64_t t = d->truth[i], T = d->n_classes, C = d->n_answers;
  d->class_total[t] += sign;
  for (int64_t k = d->item_start[i]; k < d->item_start[i + 1]; k++) {
    const int64_t l = d->item_annotator[k];
    d->said[(l * T + t) * C + d->item_answer[k]] += sign;
    d->said_total[l * T + t] += sign;
  }
}

/* Weights of item i, which is taken out; their sum is returned. */
static inline double weigh(const Crowd *d, int64_t i, double *w) {
  const int64_t T = d->n_classes, C = d->n_answers;
  double sum = 0;
  for (int64_t t = 0; t < T; t++) w[t] = d->class_total[t] + d->class_weight[t];
  int32_t same = 0, row = 0;
  for (int64_t k = d->item_start[i]; k < d->item_start[i + 1]; k++) {
    const int64_t l = d->item_annotator[k], c = d->item_answer[k];
#ifndef NO_REPEATS
    if (k > d->item_start[i] && l == d->item_annotator[k - 1]) {
      same = c == d->item_answer[k - 1] ? same + 1 : 0;
      row++;
    } else {
      same = row = 0;
    }
#endif
    const int32_t *n = d->said + l * T * C + c, *n_row = d->said_total + l * T;
    sum = 0;
    for (int64_t t = 0; t < T; t++) {
      w[t] *= (n[t * C] + same + d->weight[t * C + c]) / (n_row[t] + row + d->strength[t]);
      sum += w[t];
    }
    if (sum < 1e-150) /* many labels: keep the numbers away from underflow */
      for (int64_t t = 0; t < T; t++) w[t] *= 1e150;
  }
  sum = 0;
  for (int64_t t = 0; t < T; t++) sum += w[t];
  return sum;
}

void conditional(Crowd *d, int64_t i, double *out) {
  count(d, i, -1);
  const double sum = weigh(d, i, out);
  for (int64_t t = 0; t < d->n_classes; t++) out[t] /= sum;
  count(d, i, 1);
}

void sweep(Crowd *d, int64_t sweeps) {
  const int64_t T = d->n_classes;
  double w[T];
  for (int64_t s = 0; s < sweeps; s++)
    for (int64_t i = 0; i < d->n_items; i++) {
      count(d, i, -1);
      const double sum = weigh(d, i, w);
      double left = uniform(d->rng) * sum;
      int64_t t = 0;
      while (t < T - 1 && (left -= w[t]) >= 0) t++;
      d->truth[i] = t;
      count(d, i, 1);
      for (t = 0; t < T; t++) d->tally[i * T + t] += w[t] / sum;
    }
}
